#include "piddm/eval/diversity.h"

#include "piddm/core/error.h"
#include "piddm/core/rng.h"

namespace piddm {

namespace {

constexpr uint64_t kDirectionSeed = 128;
constexpr int64_t kDirectionFirst = int64_t{1} << 33;  // far from the other uses of Stream::splits

Tensor flat(const Tensor& x) {
  require<DataError>(x.defined() && x.dim() >= 2 && x.numel() > 0, "[diversity] expected samples (N,...), got {}",
                     x.defined() ? shape_string(x) : "nothing");
  return x.detach().to(torch::kFloat64).flatten(1);
}

}  // namespace

Tensor slice_directions(int64_t dimension, int64_t count) {
  const auto normals = normal(kDirectionSeed, Stream::splits, kDirectionFirst, count, {dimension}, torch::kFloat64);
  return (normals / normals.norm(2, 1, true)).t().contiguous();
}

SlicedPool::SlicedPool(const Tensor& projections) {
  require<DataError>(projections.dim() == 2 && projections.size(0) >= 2,
                     "[swd] needs at least 2 projected samples, got {}", shape_string(projections));
  const auto [sorted, order] = projections.t().contiguous().sort(1);
  order_ = order;
  gaps_ = sorted.diff(1, 1);
}

double SlicedPool::distance(const Tensor& weights) const {
  const auto here = weights.to(order_.device());
  const auto difference = here.index_select(0, order_.flatten()).view(order_.sizes()).cumsum(1);
  return (difference.slice(1, 0, -1).abs() * gaps_).sum(1).mean().item<double>();
}

double sliced_wasserstein(const Tensor& generated, const Tensor& reference) {
  const auto x = flat(generated), y = flat(reference);
  require<DataError>(x.size(1) == y.size(1), "[swd] generated {} and reference {} differ in shape",
                     shape_string(generated), shape_string(reference));
  const auto directions = slice_directions(x.size(1)).to(x.device());
  const SlicedPool pool(torch::cat({x.matmul(directions), y.matmul(directions)}));
  const auto share = [](int64_t n) { return torch::full({n}, 1.0 / static_cast<double>(n), torch::kFloat64); };
  return pool.distance(torch::cat({share(x.size(0)), -share(y.size(0))}));
}

Tensor pairwise_distances(const Tensor& x) {
  const auto samples = flat(x), centred = samples - samples.mean(0);
  const auto squares = centred.square().sum(1);
  const auto distances = (squares.unsqueeze(1) + squares - 2 * centred.matmul(centred.t())).clamp_min(0).sqrt();
  return distances.fill_diagonal_(0);
}

double average_pairwise_distance(const Tensor& distances, const Tensor& counts) {
  const double n = counts.sum().item<double>();
  require<DataError>(n >= 2, "[apd] needs at least 2 samples, got {}", n);
  const auto here = counts.to(distances.device());
  return here.dot(distances.mv(here)).item<double>() / (n * (n - 1));
}

double average_pairwise_distance(const Tensor& x) {
  return average_pairwise_distance(pairwise_distances(x), torch::ones({x.size(0)}, torch::kFloat64));
}

}  // namespace piddm
