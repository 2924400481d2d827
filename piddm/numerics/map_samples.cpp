#include "piddm/numerics/map_samples.h"

#include <ATen/Parallel.h>

#include <vector>

namespace piddm {

Tensor map_samples(const Tensor& x, int64_t block, const std::function<Tensor(const Tensor&)>& f) {
  const torch::NoGradGuard no_grad;
  const std::vector<Tensor> parts = x.split(x.is_cpu() ? 1 : block);
  std::vector<Tensor> results(parts.size());
  const auto run = [&](int64_t begin, int64_t end) {
    const c10::InferenceMode no_bookkeeping;
    for (int64_t i = begin; i < end; ++i) results[i] = f(parts[i]);
  };
  const auto count = static_cast<int64_t>(parts.size());
  if (x.is_cpu())
    at::parallel_for(0, count, 1, run);
  else
    run(0, count);
  return torch::cat(results);
}

}  // namespace piddm
