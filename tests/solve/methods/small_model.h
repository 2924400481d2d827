#pragma once
// A teacher for any PDE on a small grid: statistics of true data, a tiny network of random weights. Constructors of
// PDEs take grids that make_pde would refuse, which is what dense reference solutions need.

#include "tests/tiny.h"

namespace piddm::testing {

inline Model small_model(PdePtr pde) {
  Model model;
  model.pde = std::move(pde);
  model.process = process_registry().at("linear")();
  model.normalizer = Normalizer::fit(model.pde->sample(5, 0, 16), model.pde->channels());
  model.network = tiny_network(1);
  return model;
}

/// The matrix of a linear map of samples [B,C,H,W]: its columns are the images of the unit samples of this shape,
/// flattened.
inline Tensor dense_matrix(const std::function<Tensor(const Tensor&)>& map, const std::vector<int64_t>& shape) {
  int64_t size = 1;
  for (const auto s : shape) size *= s;
  std::vector<int64_t> batch = {size};
  batch.insert(batch.end(), shape.begin(), shape.end());
  return map(torch::eye(size, torch::kFloat64).view(batch)).flatten(1).t().contiguous();
}

}  // namespace piddm::testing
