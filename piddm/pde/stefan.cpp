#include "piddm/pde/stefan.h"

#include <cmath>
#include <numbers>

#include "piddm/pde/stencils.h"

namespace piddm {
namespace {

constexpr double kDuration = 0.1;
constexpr int64_t kFirstSmoothTime = 6;
constexpr int kMaxSteps = 100;

/// Applied to every entry, on the host: a few numbers per batch.
Tensor roots(const Tensor& u_star) {
  const Tensor z = u_star.to(torch::kCPU).contiguous().clone();
  for (int64_t i = 0; i < z.numel(); ++i) z.data_ptr<double>()[i] = stefan_root(z.data_ptr<double>()[i]);
  return z.to(u_star.device());
}

}  // namespace

double stefan_root(double u_star) {
  require<UsageError>(u_star > 0 && u_star < 1, "[stefan] u_star = {}: must lie between 0 and 1", u_star);
  const double target = (1 - u_star) / (u_star * std::sqrt(std::numbers::pi));
  double low = 0, high = 1;
  const auto excess = [&](double z) { return std::erf(z) * z * std::exp(z * z) - target; };
  while (excess(high) < 0) high *= 2;
  double z = 0.5 * high, step = high;
  for (int i = 0; i < kMaxSteps && std::abs(step) > 1e-15 * z; ++i) {
    const double f = excess(z);
    (f < 0 ? low : high) = z;
    const double slope = std::erf(z) * std::exp(z * z) * (1 + 2 * z * z) + 2 * z * std::numbers::inv_sqrtpi;
    double next = z - f / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    step = next - z;
    z = next;
  }
  return z;
}

Stefan::Stefan(PdeOptions options)
    : ClosedForm(std::move(options),
                 {.name = "u_star", .low = 0.55, .high = 0.7, .valid = {{kSmallestUStar, kLargestUStar}}}, kDuration) {
  require<UsageError>(duration() <= kDuration * length_x() * length_x() * (1 + 1e-9),
                      "[stefan] duration = {}: at most {} length_x^2 = {}, or the front leaves the domain", duration(),
                      kDuration, kDuration * length_x() * length_x());
  similarity_ = x() / (2 * torch::sqrt(t()));
  similarity_.select(0, 0).zero_();
  erf_ = torch::erf(similarity_);
  const Tensor zero = torch::zeros({}, torch::kFloat64), one = torch::ones({}, torch::kFloat64);
  set_constraint(chain_constraint({slice_constraint(0, Axis::w, 0, zero), slice_constraint(0, Axis::h, -1, zero),
                                   slice_constraint(0, Axis::h, 0, one)}));
}

Tensor Stefan::field(const Tensor& u_star) const {
  const Tensor z = roots(u_star);
  const Tensor wet = 1 - (1 - u_star) / torch::erf(z) * erf_.to(z.device());
  return wet.masked_fill(similarity_.to(z.device()) > z, 0);
}

Residual Stefan::equation(const Tensor& u, const Tensor& u_star) const {
  const Tensor wet = u > u_star;
  Tensor smooth = whole_patch(wet).logical_or(whole_patch(wet.logical_not()));
  smooth.narrow(3, 0, kFirstSmoothTime - 1).fill_(false);
  const Tensor start = u.select(3, 0).slice(2, 1);
  return {.fields = {{.interior = time_derivative(u) - second_derivative((u - u_star).clamp_min(0)), .smooth = smooth}},
          .boundary = torch::cat({start, u.select(2, 0) - 1, u.select(2, -1)}, 2).flatten(1)};
}

Tensor Stefan::given_boundary() const {
  const Tensor mask = Pde::given_boundary();
  mask.select(2, 0).fill_(true);
  mask.select(1, 0).fill_(true);
  return mask;
}

}  // namespace piddm
