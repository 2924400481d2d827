#include "piddm/solve/batching.h"

#include <unistd.h>

#include <algorithm>

#include "piddm/solve/conv_memory.h"

namespace piddm {

namespace {

constexpr int64_t kLargestBatch = 64, kGpuBudget = int64_t{8} << 30;

}  // namespace

int64_t bytes_per_sample(const Model& model, bool gradient) {
  const int64_t grid = model.pde->grid();
  if (counts_convolutions(*model.network))
    return 4 * (conv_activations(*model.network, grid, gradient) + 8 * model.pde->num_channels() * grid * grid);
  const auto options = model.network->options_json();
  const auto size = [&](const char* key, int64_t otherwise) { return options.value(key, otherwise); };
  const int64_t channels = model.pde->num_channels(), width = size("width", channels);
  const int64_t layers = size("layers", 1), pointwise = size("lifting", 0) + size("projection", 0);
  const int64_t floats = gradient ? 8 * width * layers + 2 * pointwise : 4 * width + pointwise;
  return 4 * (floats + 8 * channels) * grid * grid;
}

int64_t memory_budget(torch::Device device) {
  if (device.is_cuda()) return kGpuBudget;
  return static_cast<int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 4;
}

int64_t choose_batch(int64_t asked, const Model& model, bool gradient, int64_t extra_bytes) {
  require<UsageError>(asked >= 0, "method.batch: must not be negative, got {}", asked);
  if (asked > 0) return asked;
  const int64_t fitting = memory_budget(model.device()) / (bytes_per_sample(model, gradient) + extra_bytes);
  return std::clamp<int64_t>(fitting, 1, kLargestBatch);
}

}  // namespace piddm
