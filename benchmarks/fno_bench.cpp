// The FNO in its three forms side by side: forward pass, forward and backward, gradient of the input, at the demo's and the paper's size.
//   make bench          or   build/benchmarks/bench_fno [--threads N] [--repeats N] [--only TEXT]
// The forms take turns; a line shows the median of each in milliseconds and how many times faster "fused" is. Compare within one line only:
// absolute times depend on the machine and its load.

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "piddm/core/device.h"
#include "piddm/model/fno.h"
#include "piddm/ops/cpu/kernels.h"

namespace piddm {
namespace {

const std::vector<SpectralForm> kForms{SpectralForm::fused, SpectralForm::gemm, SpectralForm::fft};

FnoOptions demo_size(int64_t width) {
  FnoOptions options;
  options.modes = {12, 12};
  options.width = width;
  options.lifting = options.projection = 48;
  return options;
}

enum class Work { forward, train, input_gradient };
std::string name_of(Work work) {
  return work == Work::forward ? "forward" : work == Work::train ? "train" : "input-gradient";
}

struct Case {
  std::string name;
  FnoOptions options;
  int64_t grid, batch;
};

/// One network in one form, and the work it is timed on.
class Runner {
 public:
  Runner(const Case& c, SpectralForm form, Work work)
      : work_(work), x_(torch::randn({c.batch, 2, c.grid, c.grid})), t_(torch::rand({c.batch})) {
    auto options = c.options;
    options.spectral = form;
    network_ = std::make_shared<Fno>(options, 0);
    for (auto& p : network_->parameters()) p.requires_grad_(work == Work::train);
    x_.requires_grad_(work == Work::input_gradient);
  }

  double milliseconds() {
    const auto start = std::chrono::steady_clock::now();
    const torch::AutoGradMode mode(work_ != Work::forward);
    const auto y = (*network_)(x_, t_);
    if (work_ != Work::forward) y.square().mean().backward();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    for (auto& p : network_->parameters()) p.mutable_grad() = Tensor();
    x_.mutable_grad() = Tensor();
    return time.count();
  }

 private:
  Work work_;
  Tensor x_, t_;
  std::shared_ptr<Fno> network_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(const Case& c, Work work, int64_t repeats) {
  std::vector<Runner> runners;
  for (const auto form : kForms) runners.emplace_back(c, form, work).milliseconds();
  std::vector<std::vector<double>> times(runners.size());
  for (int64_t i = 0; i < repeats; ++i)
    for (size_t form = 0; form < runners.size(); ++form) times[form].push_back(runners[form].milliseconds());
  const double fused = median(times[0]), gemm = median(times[1]), fft = median(times[2]);
  fmt::print("{:<34}{:<16}{:>8.2f}{:>10.2f}{:>10.2f}{:>11.1f}x{:>8.1f}x\n", fmt::format("{} batch {}", c.name, c.batch),
             name_of(work), fused, gemm, fft, gemm / fused, fft / fused);
  std::fflush(stdout);
}

std::string option(int argc, char** argv, const std::string& name, const std::string& otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (name == argv[i]) return argv[i + 1];
  return otherwise;
}

void compare_all(int64_t repeats, const std::string& only) {
  const std::vector<Case> cases{{"32x32 width 16", demo_size(16), 32, 32},
                                {"32x32 width 32", demo_size(32), 32, 32},
                                {"64x64 width 32", demo_size(32), 64, 8},
                                {"128x128 width 64", FnoOptions{}, 128, 1},
                                {"128x128 width 64", FnoOptions{}, 128, 8}};
  fmt::print("{} threads, {} instructions, medians of {} turns, milliseconds\n{:<50}{:>8}{:>10}{:>10}{:>12}{:>9}\n",
             torch::get_num_threads(), enum_names(cpu::SimdLevel{})[static_cast<size_t>(cpu::kernels().level)], repeats,
             "", "fused", "gemm", "fft", "vs gemm", "vs fft");
  for (const auto& c : cases)
    for (const auto work : {Work::forward, Work::train, Work::input_gradient})
      if (fmt::format("{} batch {} {}", c.name, c.batch, name_of(work)).find(only) != std::string::npos)
        compare(c, work, repeats);
}

}  // namespace
}  // namespace piddm

int main(int argc, char** argv) {
  using namespace piddm;
  set_threads(std::atoi(option(argc, argv, "--threads", "0").c_str()));
  compare_all(std::max(1, std::atoi(option(argc, argv, "--repeats", "5").c_str())), option(argc, argv, "--only", ""));
}
