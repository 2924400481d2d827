#include "piddm/core/available_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "piddm/core/cuda.h"
#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

/// The number a file begins with; nothing, "max" or no such file: no limit.
int64_t number_in(const std::string& file) {
  int64_t number = 0;
  return std::ifstream(file) >> number ? number : kUnlimited;
}

/// What the kernel can take back from a cgroup's use: pages of files.
int64_t reclaimable(const std::string& statistics) {
  std::ifstream in(statistics);
  int64_t number = 0;
  for (std::string key; in >> key >> number;)
    if (key == "inactive_file") return number;
  return 0;
}

int64_t left_in(const std::string& limit_file, const std::string& used_file, const std::string& statistics) {
  const int64_t limit = number_in(limit_file), used = number_in(used_file);
  if (limit == kUnlimited || used == kUnlimited) return kUnlimited;
  return std::max<int64_t>(limit - used + reclaimable(statistics), 0);
}

/// In this process's cgroup and those around it.
int64_t left_in_cgroups() {
  std::ifstream in("/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(in, line);)
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  int64_t left = left_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                         "/sys/fs/cgroup/memory/memory.stat");
  for (;; path.resize(path.rfind('/'))) {
    const auto folder = "/sys/fs/cgroup" + path;
    left = std::min(left, left_in(folder + "/memory.max", folder + "/memory.current", folder + "/memory.stat"));
    if (path.find('/') == std::string::npos) return left;
  }
}

int64_t left_in_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const auto used = std::max<int64_t>(kilobytes_in("/proc/self/status", "VmSize"), 0);
  return std::max<int64_t>(static_cast<int64_t>(limit.rlim_cur) - used, 0);
}

}  // namespace

int64_t kilobytes_in(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.rfind(key + ":", 0) == 0) return 1024 * std::stoll(line.substr(key.size() + 1));
  return -1;
}

int64_t available_memory(torch::Device device) {
  if constexpr (cuda::kBuilt)
    if (device.is_cuda()) return cuda::free_memory(device);
  if (device.is_cuda()) return kUnlimited;
  const int64_t machine = kilobytes_in("/proc/meminfo", "MemAvailable");
  return std::min({machine < 0 ? kUnlimited : machine, left_in_cgroups(), left_in_address_space()});
}

std::string format_bytes(double bytes) {
  const char* unit = "bytes";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    if (bytes < 1024) break;
    bytes /= 1024, unit = larger;
  }
  return fmt::format("{:.3g} {}", bytes, unit);
}

void require_memory(const std::string& option, int64_t count, int64_t bytes_each, torch::Device device) {
  const auto needed = static_cast<double>(count) * static_cast<double>(bytes_each);
  const int64_t there = available_memory(device);
  if (needed <= static_cast<double>(there)) return;
  throw ResourceError("{} = {}: takes about {} of memory, {} are free{}; lower it to {}", option, count,
                      format_bytes(needed), format_bytes(static_cast<double>(there)),
                      device.is_cuda() ? " on the GPU" : "",
                      std::max<int64_t>(there / std::max<int64_t>(bytes_each, 1), 1));
}

}  // namespace piddm
