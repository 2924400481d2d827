#include <algorithm>
#include <filesystem>
#include <memory>

#include "benchmarks/corrector.h"
#include "benchmarks/data.h"
#include "benchmarks/network.h"
#include "benchmarks/pde_text.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/files/json_file.h"
#include "piddm/model/parameters.h"

namespace piddm::cli {

namespace {

struct NetworkArguments {
  bench::NetworkOptions options;
  int64_t modes = 32;
  std::vector<std::string> precisions;
  std::string file;
};

std::vector<Precision> precisions_of(const std::vector<std::string>& chosen, torch::Device device) {
  const auto known = enum_names(Precision{});
  if (chosen.empty())
    return device.is_cuda() ? std::vector{Precision::bf16, Precision::tf32, Precision::fp32}
                            : std::vector{Precision::fp32};
  std::vector<Precision> out;
  for (const auto& name : chosen) {
    const auto found = std::find(known.begin(), known.end(), name);
    require<UsageError>(found != known.end(), "--precision: {}", unknown_name_message("value", name, known));
    out.push_back(static_cast<Precision>(found - known.begin()));
    require<UsageError>(device.is_cuda() || out.back() == Precision::fp32,
                        "--precision {}: only on a GPU; the CPU computes in fp32", name);
  }
  return out;
}

constexpr int64_t kMostTurns = 1'000'000;

void check(const NetworkArguments& a) {
  require<UsageError>(a.modes % 2 == 0, "--modes {}: must be even", a.modes);
  if (a.file.empty()) return;
  const auto folder = std::filesystem::absolute(a.file).parent_path();
  require<ResourceError>(std::filesystem::is_directory(folder), "--json {}: there is no such folder", a.file);
}

void run_network(const Context& context, NetworkArguments a) {
  auto& o = a.options;
  o.device = context.device();
  o.seed = context.seed;
  if (o.batches.empty()) o.batches = bench::default_batches(o.bench, o.device);
  check(a);
  o.fno.modes = {a.modes, a.modes};
  o.precisions = precisions_of(a.precisions, o.device);
  const auto result = bench::bench_network(o);
  const auto object = bench::network_json(result);
  if (!a.file.empty()) write_json_file(a.file, {.name = "piddm-bench", .version = 2}, object);
  context.print(object, bench::network_report(result));
}

void run_data(const Context& context, bench::DataOptions o) {
  o.seed = context.seed;
  const auto result = bench::bench_data(std::move(o));
  context.print(bench::data_json(result), bench::data_report(result));
}

void run_corrector(const Context& context, bench::CorrectorOptions o) {
  o.device = context.device();
  o.seed = context.seed;
  const auto result = bench::bench_corrector(o);
  context.print(bench::corrector_json(result), bench::corrector_report(result));
}

void run_pde_text(const Context& context, bench::PdeTextOptions o) {
  o.device = context.device();
  o.seed = context.seed;
  const auto result = bench::bench_pde_text(std::move(o));
  context.print(bench::pde_text_json(result), bench::pde_text_report(result));
}

void add_grids(CLI::App& command, std::vector<GridSize>& grids, int64_t smallest) {
  command
      .add_option_function<std::vector<std::string>>(
          "--grid",
          [&grids](const std::vector<std::string>& texts) {
            grids.clear();
            for (const auto& text : texts) grids.push_back(GridSize::from_json(text, "--grid"));
          },
          "points per side, 128 or 96x160; several: one after the other")
      ->check(grid_size(smallest, kLargestGrid))
      ->type_name("INT[xINT]")
      ->default_str(std::to_string(grids.front().height()));
}

void add_sizes(CLI::App& command, NetworkArguments& a) {
  auto& o = a.options;
  add_grids(command, o.grids, 8);
  command
      .add_option("--batch", o.batches,
                  "samples; several: one after the other (default: 1 8, sample: 1, on a GPU: 1 64 128)")
      ->check(whole_number(1, kMostTurns));
  command.add_option("--width", o.fno.width, "hidden channels")
      ->check(whole_number(1, kMaxWidth))
      ->capture_default_str();
  command.add_option("--modes", a.modes, "Fourier modes along each axis")
      ->check(whole_number(2, kLargestGrid))
      ->capture_default_str();
  if (o.bench != "spectral") {
    command.add_option("--layers", o.fno.layers, "spectral layers")
        ->check(whole_number(1, kMaxLayers))
        ->capture_default_str();
    command.add_option("--lifting", o.fno.lifting, "hidden channels of the lifting MLP")
        ->check(whole_number(1, kMaxWidth))
        ->capture_default_str();
    command.add_option("--projection", o.fno.projection, "hidden channels of the projection")
        ->check(whole_number(1, kMaxWidth))
        ->capture_default_str();
  }
  if (o.bench == "sample")
    command.add_option("--steps", o.steps, "Euler steps of the teacher")
        ->check(whole_number(1, kMostTurns))
        ->capture_default_str();
  else
    command.add_option("--channels", o.fno.channels, "field channels in and out")
        ->check(whole_number(1, kMaxChannels))
        ->capture_default_str();
}

void add_network(CLI::App& parent, Context& context, const std::string& name, const std::string& description) {
  auto* command = add_command(parent, context, name, description);
  auto a = std::make_shared<NetworkArguments>();
  auto& o = a->options;
  o.bench = name;
  add_sizes(*command, *a);
  command->add_option("--precision", a->precisions, "fp32, on a GPU also tf32 and bf16 (default: all there are)");
  command->add_option("--repeats", o.repeats, "turns, of which the median counts")
      ->check(whole_number(1, kMostTurns))
      ->capture_default_str();
  command->add_option("--python", o.python,
                      "interpreter with torch; otherwise python3 or /usr/bin/python3; none: no PyTorch");
  command->add_flag("--scaling", o.scaling, "also over batches at this grid and over grids 32 to 256");
  command->remove_option(command->get_option("--json"));
  auto* json_option =
      command->add_option("--json", a->file, "write JSON into FILE; without FILE, print it instead of the table")
          ->expected(0, 1)
          ->type_name("[FILE]")
          ->group("Common");
  command->callback([&context, a, json_option] {
    context.json_output = json_option->count() > 0 && a->file.empty();
    context.run = [&context, a] { run_network(context, *a); };
  });
}

void add_data_bench(CLI::App& parent, Context& context) {
  auto* data =
      add_command(parent, context, "data", "Data generation and residuals of each PDE on one core, with scipy");
  auto o = std::make_shared<bench::DataOptions>();
  data->add_option("--pde", o->pdes, "which PDEs, names or FILE.toml; all of `piddm list pdes` if not given");
  data->add_option("--grid", o->grid, "points per side; targets are for 128")
      ->check(whole_number(kSmallestGrid, kLargestGrid))
      ->capture_default_str();
  data->add_option("--n", o->n, "samples in a run")->check(whole_number(1, kMostTurns))->capture_default_str();
  data->add_option("--repeats", o->repeats, "runs, of which the median counts")
      ->check(whole_number(1, kMostTurns))
      ->capture_default_str();
  data->add_option("--python", o->python,
                   "interpreter with scipy; otherwise python3 or /usr/bin/python3; none: no scipy");
  data->callback([&context, o] { context.run = [&context, o] { run_data(context, *o); }; });
}

void add_corrector_bench(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "corrector", "What the iterations of a student's corrector head bring and cost");
  auto o = std::make_shared<bench::CorrectorOptions>();
  add_grids(*command, o->grids, kSmallestGrid);
  command->add_option("--iterations", o->iterations, "how many; several: one after the other")
      ->check(whole_number(0, kMostCorrections))
      ->capture_default_str();
  command->add_option("--n", o->n, "samples, one batch")->check(whole_number(1, kMostTurns))->capture_default_str();
  command->add_option("--repeats", o->repeats, "turns, of which the median counts")
      ->check(whole_number(1, kMostTurns))
      ->capture_default_str();
  command->callback([&context, o] { context.run = [&context, o] { run_corrector(context, *o); }; });
}

void add_pde_text_bench(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "pde",
                              "Residuals of PDEs written as text against those of the library's own classes");
  auto o = std::make_shared<bench::PdeTextOptions>();
  command->add_option("--pde", o->pdes, "which PDEs; all six that are written both ways if not given");
  add_grids(*command, o->grids, kSmallestGrid);
  command->add_option("--n", o->n, "samples, one batch")->check(whole_number(1, kMostTurns))->capture_default_str();
  command->add_option("--repeats", o->repeats, "turns, of which the median counts")
      ->check(whole_number(1, kMostTurns))
      ->capture_default_str();
  command->callback([&context, o] { context.run = [&context, o] { run_pde_text(context, *o); }; });
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("bench", "Measure speed: bench spectral, fno, train, sample, data, corrector or pde");
  add_network(*command, context, "spectral", "One spectral layer, forward and with backward");
  add_network(*command, context, "fno", "The network: forward, with backward, gradient of the input");
  add_network(*command, context, "train", "A whole training step: batch, forward, backward, Adam, moving average");
  add_network(*command, context, "sample",
              "The teacher's sampler, the one-step student, an evaluation of latent optimisation");
  add_data_bench(*command, context);
  add_corrector_bench(*command, context);
  add_pde_text_bench(*command, context);
  command->callback([&context, command] {
    if (!command->get_subcommands().empty()) return;
    context.run = [] {
      throw UsageError("bench: say what to measure: spectral, fno, train, sample, data, corrector or pde");
    };
  });
}

}  // namespace piddm::cli
