#include "piddm/ops/cpu/kernels.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "piddm/core/error.h"

namespace piddm::cpu {
namespace {

const Kernels& kernels_of(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return avx512_kernels();
  if (level == SimdLevel::avx2) return avx2_kernels();
#endif
  return plain_kernels();
}

const Kernels& checked(SimdLevel level) {
  const auto levels = supported_levels();
  require<UsageError>(std::find(levels.begin(), levels.end(), level) != levels.end(),
                      "this CPU has no {} instructions; the best it has is {}", enum_names(level)[size_t(level)],
                      enum_names(level)[size_t(levels.back())]);
  return kernels_of(level);
}

const Kernels& first_choice() {
  const char* wanted = std::getenv("PIDDM_SIMD_LEVEL");
  if (wanted == nullptr || *wanted == '\0') return kernels_of(supported_levels().back());
  const auto names = enum_names(SimdLevel{});
  const auto found = std::find(names.begin(), names.end(), wanted);
  require<UsageError>(found != names.end(), "PIDDM_SIMD_LEVEL: '{}' is none of plain, avx2, avx512", wanted);
  return checked(static_cast<SimdLevel>(found - names.begin()));
}

std::atomic<const Kernels*>& current() {
  static std::atomic<const Kernels*> choice{&first_choice()};
  return choice;
}

struct Free {
  void operator()(float* p) const { std::free(p); }
};

}  // namespace

std::vector<SimdLevel> supported_levels() {
  std::vector<SimdLevel> levels{SimdLevel::plain};
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) levels.push_back(SimdLevel::avx2);
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    levels.push_back(SimdLevel::avx512);
#endif
  return levels;
}

const Kernels& kernels() { return *current().load(); }

void force_level(SimdLevel level) { current() = &checked(level); }

float* scratch(int64_t floats) {
  thread_local std::unique_ptr<float, Free> memory;
  thread_local int64_t size = 0;
  if (floats > size) {
    size = (floats + 1023) / 1024 * 1024;
    memory.reset(static_cast<float*>(std::aligned_alloc(64, size * sizeof(float))));
    require<DataError>(memory != nullptr, "out of memory: {} floats of scratch for a kernel", size);
  }
  return memory.get();
}

}  // namespace piddm::cpu
