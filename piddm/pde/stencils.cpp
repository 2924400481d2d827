#include "piddm/pde/stencils.h"

namespace piddm {
namespace {

/// Entries `offset`..`offset`+n-3 along `dim`: the inner entries shifted by offset - 1.
Tensor shifted(const Tensor& u, int64_t dim, int64_t offset) { return u.narrow(dim, offset, u.size(dim) - 2); }

Tensor all_three(const Tensor& mask, int64_t dim) {
  return shifted(mask, dim, 0).logical_and(shifted(mask, dim, 1)).logical_and(shifted(mask, dim, 2));
}

}  // namespace

Tensor inner(const Tensor& u, int64_t dim) { return shifted(u, dim, 1); }

Tensor central_difference(const Tensor& u, int64_t dim, double h) {
  return (shifted(u, dim, 2) - shifted(u, dim, 0)) * (0.5 / h);
}

Tensor second_difference(const Tensor& u, int64_t dim, double h) {
  const int64_t n = u.size(dim) - 1;
  const Tensor slope = u.narrow(dim, 1, n) - u.narrow(dim, 0, n);
  return (slope.narrow(dim, 1, n - 1) - slope.narrow(dim, 0, n - 1)) * (1 / (h * h));
}

Tensor wrap(const Tensor& u, int64_t dim) {
  return torch::cat({u.narrow(dim, u.size(dim) - 1, 1), u, u.narrow(dim, 0, 1)}, dim);
}

Tensor whole_patch(const Tensor& mask) { return all_three(all_three(mask, -2), -1); }

Tensor scalar_value(const Tensor& x) {
  const Tensor shift = x.detach().narrow(2, 0, 1).narrow(3, 0, 1);
  return (x - shift).mean({2, 3}, true) + shift;
}

Tensor mean_over_time(const Tensor& x) {
  const Tensor first = x.narrow(-1, 0, 1);
  return first + (x - first).mean(-1, true);
}

Tensor rms(const Tensor& x) { return x.square().mean({1, 2, 3}).sqrt(); }

}  // namespace piddm
