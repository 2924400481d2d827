#include "piddm/core/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace piddm {

std::string shape_string(const Tensor& x) {
  if (!x.defined()) return "(undefined)";
  return fmt::format("({})", fmt::join(x.sizes().vec(), ","));
}

bool all_finite(const Tensor& x) { return x.defined() && torch::isfinite(x).all().item<bool>(); }

std::vector<double> to_vector(const Tensor& x) {
  const Tensor flat = x.to(torch::kCPU).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

}  // namespace piddm
