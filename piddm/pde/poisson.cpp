#include "piddm/pde/poisson.h"

#include "piddm/numerics/map_samples.h"
#include "piddm/pde/stencils.h"

namespace piddm {
namespace {

constexpr double kSmallestGap = 1e-5;  // between the shift and the nearest eigenvalue, relative to the shift

/// The inner nodes of [B,C,H,W].
Tensor inner_nodes(const Tensor& x) { return inner(inner(x, 2), 3); }

Tensor norms(const Tensor& x) { return x.flatten(1).norm(2, 1); }

}  // namespace

Poisson::Poisson(PdeOptions options)
    : Pde(std::move(options)),
      lengths_{length("length_x"), length("length_y")},
      field_({grid(), lengths_}),
      solver_(inner_box(), torch::kFloat64, torch::kCPU, Walls::on_points) {}

Box Poisson::inner_box() const { return {{grid().height() - 2, grid().width() - 2}, lengths_}; }

GridAxes Poisson::axes() const { return {{{"x", AxisKind::nodes, lengths_[0]}, {"y", AxisKind::nodes, lengths_[1]}}}; }

void Poisson::set_shift(double shift, const std::string& cause) {
  const Tensor lambda = laplace_eigenvalues(inner_box(), Walls::on_points).flatten();
  const double nearest = lambda[(lambda - shift).abs().argmin()].item<double>();
  require<UsageError>(std::abs(nearest - shift) > kSmallestGap * shift,
                      "[{}] {} has no unique solution on a grid of {}: its square {} is an eigenvalue, {}", name(),
                      cause, grid().text(), shift, nearest);
  shift_ = shift;
  solver_ = FastPoisson(inner_box(), torch::kFloat64, torch::kCPU, Walls::on_points, shift);
}

const std::vector<Channel>& Poisson::channels() const {
  static const std::vector<Channel> list = {{.name = "u", .zero_on = ZeroOn::ring},
                                            {.name = "a", .role = Role::coefficient}};
  return list;
}

Tensor Poisson::sample_coefficients(uint64_t seed, int64_t first, int64_t count) const {
  return field_.sample(seed, first, count);
}

Tensor Poisson::apply(const Tensor& u) const {
  const Tensor laplacian =
      second_difference(inner(u, 3), 2, spacing(0)) + second_difference(inner(u, 2), 3, spacing(1));
  return shift_ == 0 ? laplacian : laplacian + shift_ * inner_nodes(u);
}

Tensor Poisson::solve_inner(const Tensor& f) const {
  if (f.is_cpu() && f.scalar_type() == torch::kFloat64) return -solver_.solve(f);
  return -FastPoisson(inner_box(), f.scalar_type(), f.device(), Walls::on_points, shift_).solve(f);
}

Tensor Poisson::solve(const Tensor& coefficients, const Tensor&, SolveReport* report) const {
  const torch::NoGradGuard no_grad;
  const Tensor f = inner_nodes(checked_coefficients(coefficients));
  const Tensor u = map_samples(f, f.size(0), [this](const Tensor& sample) {
    return torch::constant_pad_nd(solve_inner(sample), {1, 1, 1, 1});
  });
  if (report) *report = {0, (norms(apply(u) - f) / norms(f).clamp_min(1e-300)).max().item<double>()};
  return u;
}

Residual Poisson::residual(const Tensor& x) const {
  check_residual_input(x);
  const Tensor u = x.narrow(1, 0, 1), field = x.select(1, 0), between = inner(field, 1);
  const Tensor ring =
      torch::cat({field.select(1, 0), field.select(1, -1), between.select(2, 0), between.select(2, -1)}, 1);
  const Tensor a = inner_nodes(x.narrow(1, 1, 1));
  return {.fields = {{.interior = apply(u) - a, .reference = a}}, .boundary = ring};
}

std::vector<Equation> Poisson::equations() const { return {{.scale = spacing(0) * spacing(1)}}; }

Tensor Poisson::without_ring(const Tensor& field) const {
  return torch::constant_pad_nd(inner_nodes(field), {1, 1, 1, 1});
}

Tensor Poisson::constrain(const Tensor& x) const {
  check_shape(x);
  return torch::cat({without_ring(x.narrow(1, 0, 1)), x.narrow(1, 1, 1)}, 1);
}

Tensor Poisson::given_boundary() const {
  Tensor ring = torch::ones({1, grid().height(), grid().width()}, torch::kBool);
  inner(inner(ring, 1), 2).fill_(false);
  return ring;
}

Tensor Poisson::precondition(const Residual& residual) const {
  const Tensor& r = residual.fields.front().interior;
  const int64_t h = grid().height() - 2, w = grid().width() - 2;
  require<DataError>(r.dim() == 4 && r.size(2) == h && r.size(3) == w,
                     "[{}] precondition: expected (B,1,{},{}), got {}", name(), h, w, shape_string(r));
  return solve_inner(r);
}

Tensor Poisson::correct(const Tensor& x, int64_t) const {
  check_residual_input(x);
  const Tensor a = x.narrow(1, 1, 1);
  return torch::cat({torch::constant_pad_nd(solve_inner(inner_nodes(a)), {1, 1, 1, 1}), a}, 1);
}

}  // namespace piddm
