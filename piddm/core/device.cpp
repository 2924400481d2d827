#include "piddm/core/device.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <sched.h>
#include <sys/utsname.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace piddm {

namespace {

int available_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

/// What the environment grants a process that names no number: OMP_NUM_THREADS if it is a number of at least 1, at most
/// all cores.
int granted_threads(int cores) {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const int threads = text ? std::atoi(text) : 0;
  return threads >= 1 ? std::min(threads, cores) : cores;
}

void apply_threads(int threads) {
  at::set_num_threads(threads);
  using SetThreads = void (*)(int);
  if (auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(threads);
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string simd_level() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "avx512";
  if (__builtin_cpu_supports("avx2")) return "avx2";
#endif
  return "baseline";
}

// The driver's names of the GPUs.
json gpu_models() {
  json models = json::array();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", ignored)) {
    std::ifstream in(entry.path() / "information");
    for (std::string line; std::getline(in, line);)
      if (line.rfind("Model:", 0) == 0) models.push_back(line.substr(line.find_first_not_of(" \t", 6)));
  }
  return models;
}

}  // namespace

torch::Device resolve_device(const std::string& name) {
  if (name == "auto") return torch::Device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  if (name == "cpu") return torch::Device(torch::kCPU);
  int64_t index = 0;
  if (name.rfind("cuda:", 0) == 0 && name.size() > 5 && name.find_first_not_of("0123456789", 5) == std::string::npos)
    index = std::stoll(name.substr(5, 6));
  else if (name != "cuda")
    throw UsageError("--device {}: expected auto, cpu, cuda or cuda:N", name);
  const auto devices = static_cast<int64_t>(torch::cuda::device_count());
  if (devices == 0) throw ResourceError("--device {}: there is no CUDA device here; use --device cpu or auto", name);
  if (index >= devices) throw ResourceError("--device {}: only {} CUDA device(s) here", name, devices);
  return torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(index));
}

int set_threads(int threads) {
  const int cores = available_cores();
  if (threads < 0) throw UsageError("--threads {}: must be 0 (OMP_NUM_THREADS, else all cores) or more", threads);
  if (threads > cores) throw UsageError("--threads {}: this machine offers {} core(s)", threads, cores);
  if (threads == 0) threads = granted_threads(cores);
  apply_threads(threads);
  return threads;
}

OneThread::OneThread() : before_(at::get_num_threads()) { apply_threads(1); }
OneThread::~OneThread() { apply_threads(before_); }

json describe_machine() {
  utsname system{};
  uname(&system);
  json machine = {{"cpu", cpu_model()},
                  {"cores", available_cores()},
                  {"threads", at::get_num_threads()},
                  {"simd", simd_level()},
                  {"memory_gib", sysconf(_SC_PHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE) / (1 << 20)},
                  {"system", std::string(system.sysname) + " " + system.release},
                  {"compiler", __VERSION__},
                  {"libtorch", TORCH_VERSION},
                  {"piddm", PIDDM_VERSION},
                  {"cuda_devices", static_cast<int64_t>(torch::cuda::device_count())},
                  {"gpus", gpu_models()}};
  return machine;
}

}  // namespace piddm
