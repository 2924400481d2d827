#include "piddm/model/inputs.h"

#include "piddm/core/error.h"

namespace piddm {

void check_inputs(const std::string& type, const Tensor& x, const Tensor& t, int64_t channels) {
  require<DataError>(x.dim() == 4 && x.size(1) == channels, "[{}] expected (B,{},H,W), got {}", type, channels,
                     shape_string(x));
  require<DataError>(t.dim() == 1 && (t.size(0) == x.size(0) || t.size(0) == 1), "[{}] expected {} times, got {}", type,
                     x.size(0), shape_string(t));
}

void check_modes(const std::vector<int64_t>& modes) {
  require<UsageError>(modes.size() == 2, "model.modes: expected two numbers, got {}", modes.size());
  for (const int64_t m : modes)
    require<UsageError>(m >= 2 && m % 2 == 0, "model.modes: {} is not an even number of at least 2", m);
}

void check_time_features(int64_t features) {
  require<UsageError>(features >= 4 && features % 2 == 0, "model.time_features: {} is not an even number of at least 4",
                      features);
}

Tensor coordinates_of(int64_t height, int64_t width, const torch::TensorOptions& options) {
  const auto x = ((torch::arange(height, options) + 0.5) / height).view({height, 1}).expand({height, width});
  const auto y = ((torch::arange(width, options) + 0.5) / width).view({1, width}).expand({height, width});
  return torch::stack({x, y}).reshape({2, height * width});
}

}  // namespace piddm
