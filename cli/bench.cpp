#include "cli/bench.h"

namespace piddm::cli {

void add_bench(CLI::App& app, Context& context) {
  auto* bench = app.add_subcommand("bench", "Measure speed: bench spectral, fno, train, sample or data");
  add_bench_network(*bench, context);
  add_bench_data(*bench, context);
  bench->callback([&context, bench] {
    if (!bench->get_subcommands().empty()) return;
    context.run = [] { throw UsageError("bench: say what to measure: spectral, fno, train, sample or data"); };
  });
}

}  // namespace piddm::cli
