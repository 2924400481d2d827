#include "piddm/posterior/crps.h"

#include "piddm/core/error.h"

namespace piddm {

Tensor fair_crps(const Tensor& draws, const Tensor& truth) {
  require<DataError>(draws.dim() >= 2 && draws.size(1) >= 2, "[crps] needs at least 2 draws, got {}",
                     draws.dim() >= 2 ? draws.size(1) : 0);
  require<DataError>(draws.dim() == truth.dim() + 1 && draws.select(1, 0).sizes() == truth.sizes(),
                     "[crps] draws {} do not fit the truth {}", shape_string(draws), shape_string(truth));
  const int64_t count = draws.size(1);
  const auto error = (draws - truth.unsqueeze(1)).abs().mean(1);
  auto spread = torch::zeros_like(error);
  for (int64_t step = 1; step < count; ++step)  // pairs (i, i + step)
    spread = spread + (draws.narrow(1, step, count - step) - draws.narrow(1, 0, count - step)).abs().sum(1);
  return error - spread / static_cast<double>(count * (count - 1));
}

}  // namespace piddm
