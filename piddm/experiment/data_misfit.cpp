#include "piddm/experiment/data_misfit.h"

#include <algorithm>
#include <optional>

#include "piddm/core/log.h"
#include "piddm/data/check/own_floor.h"

namespace piddm {

namespace {

constexpr int64_t kSamples = 8;
constexpr double kWorse = 4;  // as `data check`

/// pde_error of the first samples, and of exact solutions for their coefficients.
struct DataErrors {
  double own = 0, solved = 0;
};

/// Nothing where those solutions cannot be had.
std::optional<DataErrors> data_errors(const Dataset& data, const Pde& pde) {
  const torch::NoGradGuard no_grad;
  const auto x = data.fields.narrow(0, 0, std::min(kSamples, data.size())).to(torch::kFloat64);
  try {
    return DataErrors{.own = pde.pde_error(x).mean().item<double>(),
                      .solved = pde.pde_error(reference_samples(pde, x)).mean().item<double>()};
  } catch (const Error& error) {
    spdlog::debug("{}", error.what());
    return {};
  }
}

}  // namespace

std::string data_misfit(const Dataset& data, const Pde& pde) {
  const auto errors = data_errors(data, pde);
  if (!errors || errors->own <= kWorse * errors->solved) return "";
  return fmt::format("pde_error {:.2g}, where solutions of {} for the same coefficients have {:.2g}", errors->own,
                     pde.name(), errors->solved);
}

}  // namespace piddm
