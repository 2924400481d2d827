#include "piddm/solve/batching.h"

#include <algorithm>

#include "piddm/core/available_memory.h"

namespace piddm {

namespace {

constexpr int64_t kLargestBatch = 64, kGpuBudget = int64_t{8} << 30;

}  // namespace

int64_t memory_budget(torch::Device device) {
  if (device.is_cuda()) return kGpuBudget;
  return available_memory(device) / 4;
}

int64_t choose_batch(int64_t asked, const Model& model, bool gradient, int64_t extra_bytes) {
  if (asked > 0) return asked;
  const int64_t fitting = memory_budget(model.device()) / (model.bytes_per_sample(gradient) + extra_bytes);
  return std::clamp<int64_t>(fitting, 1, kLargestBatch);
}

}  // namespace piddm
