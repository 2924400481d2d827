#include "piddm/pde/closed_form.h"

#include <ATen/Parallel.h>

#include "piddm/pde/stencils.h"

namespace piddm {

ClosedForm::ClosedForm(PdeOptions options, UniformScalar scalar, double duration)
    : ClosedForm(std::move(options), std::move(scalar), {}, duration) {}

ClosedForm::ClosedForm(PdeOptions options, UniformScalar scalar, std::optional<double> period, double duration)
    : Pde(std::move(options)),
      scalar_(std::move(scalar)),
      x_axis_{.name = "x",
              .kind = period ? AxisKind::periodic : AxisKind::nodes,
              .length = period ? *period : length("length_x")},
      t_axis_{.name = "t", .kind = AxisKind::time, .length = length("duration", duration)},
      dx_(x_axis_.spacing(grid().height())),
      dt_(t_axis_.spacing(grid().width())) {
  channels_ = {{.name = "u"},
               {.name = scalar_.name, .role = Role::coefficient, .scalar = true, .valid = scalar_.valid}};
  const auto points = [](int64_t n, const GridAxis& axis) {
    const int64_t intervals = axis.kind == AxisKind::periodic ? n : n - 1;
    return torch::arange(n, torch::kFloat64) * axis.length / static_cast<double>(intervals);
  };
  x_ = points(grid().height(), x_axis_).unsqueeze(1);
  t_ = points(grid().width(), t_axis_);
}

Tensor ClosedForm::sample_coefficients(uint64_t seed, int64_t first, int64_t count) const {
  const Tensor unit = uniform(seed, Stream::coefficients, first, count, {1, 1, 1}, torch::kFloat64);
  return (unit * (scalar_.high - scalar_.low) + scalar_.low)
      .expand({count, 1, grid().height(), grid().width()})
      .contiguous();
}

Tensor ClosedForm::solve_one(const Tensor& coefficients) const {
  const Tensor s = scalar_value(coefficients);
  if (scalar_.valid) {
    const auto [low, high] = *scalar_.valid;
    const double smallest = s.min().item<double>(), largest = s.max().item<double>();
    require<DataError>(smallest >= low && largest <= high, "[{}] {} = {}: must be between {} and {}", name(),
                       scalar_.name, smallest < low ? smallest : largest, low, high);
  }
  return field(s);
}

Tensor ClosedForm::solve(const Tensor& coefficients, const Tensor&, SolveReport* report) const {
  const torch::NoGradGuard no_grad;
  const Tensor a = checked_coefficients(coefficients);
  if (report) *report = {};
  if (!a.is_cpu()) return solve_one(a);
  const Tensor u = torch::empty(a.sizes(), a.options());
  at::parallel_for(0, a.size(0), 1, [&](int64_t begin, int64_t end) {
    const torch::NoGradGuard no_grad_here;
    for (int64_t i = begin; i < end; ++i) u.narrow(0, i, 1).copy_(solve_one(a.narrow(0, i, 1)));
  });
  return u;
}

Residual ClosedForm::residual(const Tensor& x) const {
  check_residual_input(x);
  auto r = equation(solution(x), scalar_value(coefficients(x)));
  r.fields.front().reference = time_derivative(solution(x));
  return r;
}

Tensor ClosedForm::constrain(const Tensor& x) const {
  check_shape(x);
  return constraint_->adjust(x);
}

Tensor ClosedForm::time_derivative(const Tensor& u) const {
  return central_difference(periodic() ? u : inner(u, 2), 3, dt_);
}

Tensor ClosedForm::second_derivative(const Tensor& f) const {
  const Tensor columns = inner(f, 3);
  return second_difference(periodic() ? wrap(columns, 2) : columns, 2, dx_);
}

}  // namespace piddm
