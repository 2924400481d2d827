#include "piddm/core/peak_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "piddm/core/available_memory.h"
#include "piddm/core/cuda.h"

namespace piddm {

namespace {

constexpr double kMib = 1 << 20;

/// "VmRSS" or "VmHWM" of this process in bytes; 0 where the system does not tell.
int64_t process_memory(const std::string& key) { return std::max<int64_t>(kilobytes_in("/proc/self/status", key), 0); }

}  // namespace

PeakMemory::PeakMemory(torch::Device device) : device_(device) {
  if constexpr (cuda::kBuilt)
    if (device_.is_cuda()) cuda::reset_peak_memory();
  if (device_.is_cuda()) return;
  std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM starts again from VmRSS
  before_ = process_memory("VmRSS");
}

double PeakMemory::mib() const {
  if constexpr (cuda::kBuilt)
    if (device_.is_cuda()) return static_cast<double>(cuda::peak_memory()) / kMib;
  if (device_.is_cuda()) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(std::max<int64_t>(process_memory("VmHWM") - before_, 0)) / kMib;
}

}  // namespace piddm
