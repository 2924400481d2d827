// The FNO in its two spectral forms: forward pass and training step at the demo's size, forward at the paper's.
//   make bench          or   build/benchmarks/bench_fno --benchmark_format=json
// Compare the forms within one run; absolute times depend on the machine and its load.

#include <benchmark/benchmark.h>

#include "piddm/core/device.h"
#include "piddm/model/fno.h"
#include "piddm/train/flow_matching.h"

namespace piddm {
namespace {

FnoOptions demo_size(SpectralForm form) {
  return {.channels = 2,
          .modes = {12, 12},
          .width = 16,
          .layers = 4,
          .lifting = 48,
          .projection = 48,
          .time_features = 32,
          .spectral = form};
}

FnoOptions paper_size(SpectralForm form) {
  FnoOptions options;
  options.spectral = form;
  return options;
}

void forward(benchmark::State& state, const FnoOptions& options, int64_t grid) {
  torch::NoGradGuard no_grad;
  Fno network(options, 0);
  const auto x = torch::randn({state.range(0), 2, grid, grid}), t = torch::rand({1});
  for (auto _ : state) benchmark::DoNotOptimize(network(x, t));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void training_step(benchmark::State& state, const FnoOptions& options, int64_t grid) {
  Fno network(options, 0);
  Adam adam(network, {});
  FlowMatching objective(network, process_registry().at("linear")(), torch::randn({256, 2, grid, grid}), state.range(0),
                         0);
  int64_t step = 0;
  for (auto _ : state) {
    adam.zero_grad();
    objective.loss(step).total.backward();
    adam.step(++step, 1e-3, adam.gradient_norm());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace
}  // namespace piddm

int main(int argc, char** argv) {
  using namespace piddm;
  set_threads(0);
  for (const auto& [form, name] : {std::pair{SpectralForm::gemm, "gemm"}, {SpectralForm::fft, "fft"}}) {
    const std::string suffix = std::string("/") + name;
    const auto small = demo_size(form), paper = paper_size(form);
    benchmark::RegisterBenchmark(("forward/32x32/width16" + suffix).c_str(), [=](auto& s) { forward(s, small, 32); })
        ->Arg(1)
        ->Arg(32)
        ->Arg(64)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("training_step/32x32/width16" + suffix).c_str(),
                                 [=](auto& s) { training_step(s, small, 32); })
        ->Arg(32)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("forward/128x128/width64" + suffix).c_str(), [=](auto& s) { forward(s, paper, 128); })
        ->Arg(1)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
