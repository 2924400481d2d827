#include "piddm/numerics/fast_poisson.h"

#include <map>
#include <mutex>
#include <tuple>

#include "piddm/core/error.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {

namespace {

/// Of -d^2/dx^2 on n points of a side of this length, [n].
Tensor line_eigenvalues(int64_t n, double length, Walls walls) {
  return walls == Walls::on_points ? node_sine_eigenvalues(n, length / static_cast<double>(n + 1))
                                   : sine_eigenvalues(n, length / static_cast<double>(n));
}

/// 1/(lambda_k + lambda_l - s), kept: a copy to a GPU must not happen inside a recording.
Tensor cached_inverse(const Box& box, torch::ScalarType dtype, torch::Device device, Walls walls, double shift) {
  using Key = std::tuple<int64_t, int64_t, Lengths, torch::ScalarType, std::string, Walls, double>;
  constexpr size_t kMost = 64;
  static std::mutex mutex;
  static std::map<Key, Tensor> cache;
  const std::lock_guard lock(mutex);
  const Key key{box.points.height(), box.points.width(), box.lengths, dtype, device.str(), walls, shift};
  if (const auto found = cache.find(key); found != cache.end()) return found->second;
  if (cache.size() >= kMost) cache.clear();
  // The first caller may be in inference mode, a later one in training.
  const c10::InferenceMode normal_tensors(false);
  return cache[key] = (laplace_eigenvalues(box, walls) - shift).reciprocal().to(device, dtype);
}

}  // namespace

Tensor laplace_eigenvalues(const Box& box, Walls walls) {
  return line_eigenvalues(box.points.height(), box.lengths[0], walls).unsqueeze(1) +
         line_eigenvalues(box.points.width(), box.lengths[1], walls);
}

FastPoisson::FastPoisson(const Box& box, torch::ScalarType dtype, torch::Device device, Walls walls, double shift)
    : walls_(walls), inverse_(cached_inverse(box, dtype, device, walls, shift)) {}

Tensor FastPoisson::solve(const Tensor& f, double a0) const {
  require<UsageError>(a0 > 0, "[fast poisson] a0 = {}: must be positive", a0);
  const Tensor u = walls_ == Walls::on_points ? node_sine_transform(node_sine_transform(f) * inverse_)
                                              : inverse_sine_transform(sine_transform(f) * inverse_);
  return a0 == 1 ? u : u / a0;
}

}  // namespace piddm
