#include "piddm/pde/pde.h"

#include <algorithm>

namespace piddm {

int64_t Pde::num_solution_channels() const {
  const auto& all = channels();
  return std::count_if(all.begin(), all.end(), [](const Channel& c) { return c.role == Role::solution; });
}

std::vector<std::string> Pde::channel_names() const {
  std::vector<std::string> names;
  for (const auto& channel : channels()) names.push_back(channel.name);
  return names;
}

Tensor Pde::sample(uint64_t seed, int64_t first, int64_t count, SolveReport* report) const {
  const Tensor coefficients = sample_coefficients(seed, first, count);
  return torch::cat({solve(coefficients, {}, report), coefficients}, 1);
}

Tensor Pde::pde_error(const Tensor& x) const {
  return (residual(x).interior * residual_scale()).square().mean({1, 2, 3});
}

Tensor Pde::precondition(const Tensor&) const {
  throw UsageError("[{}] has no fast solver to precondition with; set precondition = false", name());
}

void Pde::check_shape(const Tensor& x) const {
  require<DataError>(x.dim() == 4 && x.size(1) == num_channels() && x.size(2) == grid() && x.size(3) == grid(),
                     "[{0}] expected (B,{1},{2},{2}), got {3}", name(), num_channels(), grid(), shape_string(x));
}

}  // namespace piddm
