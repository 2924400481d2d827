#include "piddm/core/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace piddm {

std::string shape_string(const Tensor& x) {
  if (!x.defined()) return "(undefined)";
  return fmt::format("({})", fmt::join(x.sizes().vec(), ","));
}

bool all_finite(const Tensor& x) { return x.defined() && torch::isfinite(x).all().item<bool>(); }

}  // namespace piddm
