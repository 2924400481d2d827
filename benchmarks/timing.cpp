#include "benchmarks/timing.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <memory>

#include "piddm/core/cuda.h"
#include "piddm/core/interrupt.h"
#include "piddm/core/stopwatch.h"

namespace piddm::bench {

namespace {

constexpr double kTurnSeconds = 0.03;
constexpr int64_t kMostRuns = 2000;

void wait_for(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize();
}

double seconds_of(const Contestant& work, int64_t runs, torch::Device device, Clock clock = Clock::wall) {
  throw_if_interrupted("measuring");
  wait_for(device);
  const Stopwatch watch;
  const double begin = processor_seconds();
  for (int64_t i = 0; i < runs; ++i) work();
  wait_for(device);
  const double seconds = clock == Clock::wall ? watch.seconds() : processor_seconds() - begin;
  return seconds / static_cast<double>(runs);
}

int64_t runs_of_a_turn(const Contestant& work, torch::Device device) {
  double seconds = seconds_of(work, 1, device);  // warms caches and pools as well
  if (seconds < 1) seconds = seconds_of(work, 1, device);
  return std::clamp(static_cast<int64_t>(std::ceil(kTurnSeconds / std::max(seconds, 1e-9))), int64_t{1}, kMostRuns);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double fastest_seconds(const Contestant& work, torch::Device device) {
  const int64_t runs = runs_of_a_turn(work, device);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) best = std::min(best, seconds_of(work, runs, device));
  return best;
}

double copy_gbps(torch::Device device) {
  const int64_t floats = int64_t{1} << (device.is_cuda() ? 28 : 25);
  const auto options = torch::TensorOptions().device(device);
  const auto from = torch::ones({floats}, options);
  auto to = torch::zeros({floats}, options);
  return 8e-9 * static_cast<double>(floats) / fastest_seconds([&] { to.copy_(from); }, device);
}

double matmul_tflops(torch::ScalarType type, bool tf32, torch::Device device) {
  const AllowTf32 allow(tf32);
  const int64_t n = device.is_cuda() ? 8192 : 1536;
  const auto a = torch::randn({n, n}, torch::TensorOptions().device(device)).to(type);
  auto c = torch::empty_like(a);
  const auto size = static_cast<double>(n);
  return 2e-12 * size * size * size / fastest_seconds([&] { torch::mm_out(c, a, a); }, device);
}

double gemm_tflops(Precision precision, torch::Device device) {
  if (precision == Precision::bf16) return matmul_tflops(torch::kBFloat16, true, device);
  const double rounded = device.is_cuda() ? matmul_tflops(torch::kFloat32, true, device) : 0;
  if (precision == Precision::tf32) return rounded;
  return std::max(matmul_tflops(torch::kFloat32, false, device), rounded / 3);
}

/// A line of /proc/FILE such as "VmHWM:   1234 kB", in bytes.
std::optional<int64_t> proc_bytes(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.rfind(key + ":", 0) == 0) return 1024 * std::stoll(line.substr(key.size() + 1));
  return std::nullopt;
}

}  // namespace

AllowTf32::AllowTf32(bool allow) { at::globalContext().setFloat32MatmulPrecision(allow ? "high" : "highest"); }
AllowTf32::~AllowTf32() { at::globalContext().setFloat32MatmulPrecision("highest"); }

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<double> take_turns(const std::vector<Contestant>& contestants, int64_t repeats, torch::Device device,
                               Clock clock) {
  std::vector<int64_t> runs;
  for (const auto& work : contestants) runs.push_back(runs_of_a_turn(work, device));
  std::vector<std::vector<double>> seconds(contestants.size());
  for (int64_t turn = 0; turn < repeats; ++turn)
    for (size_t i = 0; i < contestants.size(); ++i)
      seconds[i].push_back(seconds_of(contestants[i], runs[i], device, clock));
  std::vector<double> milliseconds;
  for (const auto& values : seconds) milliseconds.push_back(1e3 * median(values));
  return milliseconds;
}

Ceilings measure_ceilings(Precision precision, torch::Device device) {
  const torch::NoGradGuard no_grad;
  return {copy_gbps(device), gemm_tflops(precision, device)};
}

double quick_gemm_gflops(torch::Device device) {
  const int64_t n = 768, runs = 8;
  const auto a = torch::randn({n, n}, torch::device(device)), b = torch::randn({n, n}, torch::device(device));
  a.matmul(b).sum().item<float>();
  const Stopwatch watch;
  Tensor c;
  for (int64_t i = 0; i < runs; ++i) c = a.matmul(b);
  c.sum().item<float>();
  return 2e-9 * static_cast<double>(runs * n * n * n) / watch.seconds();
}

PeakBytes::PeakBytes(torch::Device device) : device_(device) {
  if (device.is_cpu()) std::ofstream("/proc/self/clear_refs") << "5";  // resets VmHWM
  if constexpr (cuda::kBuilt)
    if (device.is_cuda()) cuda::reset_peak_memory();
}

std::optional<int64_t> PeakBytes::bytes() const {
  if (device_.is_cpu()) return proc_bytes("/proc/self/status", "VmHWM");
  if constexpr (cuda::kBuilt) return cuda::peak_memory();
  return std::nullopt;
}

double available_bytes(torch::Device device) {
  if (device.is_cuda()) return std::numeric_limits<double>::infinity();  // LibTorch says when it is full
  const auto bytes = proc_bytes("/proc/meminfo", "MemAvailable");
  return bytes ? static_cast<double>(*bytes) : std::numeric_limits<double>::infinity();
}

Contestant captured(const Contestant& work) {
  if constexpr (cuda::kBuilt) {
    const auto graph = std::make_shared<cuda::Graph>(work);
    return [graph] { graph->replay(); };
  }
  return work;
}

}  // namespace piddm::bench
