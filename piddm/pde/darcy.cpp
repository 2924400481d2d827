#include "piddm/pde/darcy.h"

#include <limits>

#include "piddm/numerics/diffusion_cg.h"
#include "piddm/numerics/fast_poisson.h"
#include "piddm/pde/stencils.h"

namespace piddm {
namespace {

/// -w/h^2 on the n+1 faces across axis `dim`.
Tensor face_weights(const Tensor& a, int64_t dim, double length, FaceMean mean) {
  const int64_t n = a.size(dim);
  const double scale = -static_cast<double>(n * n) / (length * length);
  const Tensor before = a.narrow(dim, 0, n - 1), after = a.narrow(dim, 1, n - 1), sum = before + after;
  const Tensor inside = mean == FaceMean::arithmetic ? sum * (0.5 * scale) : before * after / sum * (2 * scale);
  return torch::cat({a.narrow(dim, 0, 1) * (2 * scale), inside, a.narrow(dim, n - 1, 1) * (2 * scale)}, dim);
}

/// x_{i+1} - x_i along `dim`.
Tensor difference(const Tensor& x, int64_t dim) {
  const int64_t n = x.size(dim) - 1;
  return x.narrow(dim, 1, n) - x.narrow(dim, 0, n);
}

}  // namespace

DarcyOperator::DarcyOperator(const Tensor& a, const Lengths& lengths, FaceMean mean)
    : lengths_(lengths),
      weights_x_(face_weights(a, 2, lengths[0], mean)),
      weights_y_(face_weights(a, 3, lengths[1], mean)) {}

Tensor DarcyOperator::apply(const Tensor& u) const {
  const Tensor flux_x = weights_x_ * difference(torch::constant_pad_nd(u, {0, 0, 1, 1}), 2);
  const Tensor flux_y = weights_y_ * difference(torch::constant_pad_nd(u, {1, 1}), 3);
  return difference(flux_x, 2) + difference(flux_y, 3);
}

CgResult DarcyOperator::solve(const Tensor& f, const Tensor& start, const CgOptions& options) const {
  const FastPoisson poisson({{f.size(-2), f.size(-1)}, lengths_}, f.scalar_type(), f.device());
  return conjugate_gradient([this](const Tensor& u) { return apply(u); },
                            [&poisson](const Tensor& r) { return poisson.solve(r); }, f, start, options);
}

Tensor DarcyOperator::correct(const Tensor& f, const Tensor& u, int64_t iterations) const {
  const FastPoisson poisson({{f.size(-2), f.size(-1)}, lengths_}, f.scalar_type(), f.device());
  return conjugate_gradient_steps([this](const Tensor& v) { return apply(v); },
                                  [&poisson](const Tensor& r) { return poisson.solve(r); }, f, u, iterations);
}

CgResult solve_darcy(const Tensor& a, const Tensor& start, const CgOptions& options, const Lengths& lengths) {
  const Tensor f = torch::ones_like(a);
  return a.is_cpu() ? solve_diffusion(a, f, start, options, lengths)
                    : DarcyOperator(a, lengths).solve(f, start, options);
}

Darcy::Darcy(PdeOptions options)
    : Pde(std::move(options)), lengths_{length("length_x"), length("length_y")}, field_({grid(), lengths_}) {}

GridAxes Darcy::axes() const { return {{{"x", AxisKind::cells, lengths_[0]}, {"y", AxisKind::cells, lengths_[1]}}}; }

const std::vector<Channel>& Darcy::channels() const {
  static const std::vector<Channel> list = {{.name = "u", .zero_on = ZeroOn::wall},
                                            {.name = "a",
                                             .role = Role::coefficient,
                                             .two_valued = {{3, 12}},
                                             .valid = {{kCoefficientFloor, std::numeric_limits<double>::infinity()}}}};
  return list;
}

Tensor Darcy::sample_coefficients(uint64_t seed, int64_t first, int64_t count) const {
  const auto [low, high] = *channels()[1].two_valued;
  return (field_.sample(seed, first, count) >= 0).to(torch::kFloat64) * (high - low) + low;
}

Tensor Darcy::solve(const Tensor& coefficients, const Tensor& start, SolveReport* report) const {
  const int64_t h = grid().height(), w = grid().width();
  const bool fits = coefficients.dim() == 4 && coefficients.sizes().slice(1) == torch::IntArrayRef({1, h, w});
  require<DataError>(fits && coefficients.size(0) > 0, "[darcy] expected coefficients (B,1,{},{}), got {}", h, w,
                     shape_string(coefficients));
  require<DataError>(!start.defined() || start.sizes() == coefficients.sizes(),
                     "[darcy] expected a start like the coefficients {}, got {}", shape_string(coefficients),
                     shape_string(start));
  const Tensor a = coefficients.detach().to(torch::kFloat64);
  const double smallest = a.min().item<double>();
  require<DataError>(all_finite(a) && smallest >= kCoefficientFloor,
                     "[darcy] coefficients must be finite and at least {}, the smallest is {}", kCoefficientFloor,
                     smallest);
  const CgResult result = solve_darcy(a, start.defined() ? start.detach().to(torch::kFloat64) : Tensor(), {}, lengths_);
  if (report) *report = {result.iterations.max().item<int64_t>(), result.relative_residual.max().item<double>()};
  return result.x;
}

Residual Darcy::residual_with(const Tensor& x, FaceMean mean) const {
  check_residual_input(x);
  const Tensor one = torch::ones({1, 1, 1, 1}, x.options().requires_grad(false));
  const Tensor r = 1 - DarcyOperator(x.narrow(1, 1, 1), lengths_, mean).apply(x.narrow(1, 0, 1));
  return {{{.interior = r, .reference = one.expand_as(r)}}};
}

Residual Darcy::residual(const Tensor& x) const { return residual_with(x, FaceMean::arithmetic); }

std::vector<OtherForm> Darcy::other_forms() const {
  return {{.name = "harmonic",
           .meaning = "harmonic means of a on the faces between cells, not arithmetic ones",
           .residual = [this](const Tensor& x) { return residual_with(x, FaceMean::harmonic); }}};
}

std::vector<Equation> Darcy::equations() const {
  return {{.scale = 115.0 * lengths_[0] * lengths_[1] / static_cast<double>(grid().points())}};
}

Tensor Darcy::precondition(const Residual& residual) const {
  const Tensor& r = residual.fields.front().interior;
  return FastPoisson({grid(), lengths_}, r.scalar_type(), r.device()).solve(r, 6.0);
}

Tensor Darcy::correct(const Tensor& x, int64_t iterations) const {
  check_residual_input(x);
  const Tensor u = x.narrow(1, 0, 1), a = x.narrow(1, 1, 1), f = torch::ones_like(a.detach());
  const Tensor sound = a.clamp_min(kCoefficientFloor);
  return torch::cat({x.is_cpu() ? correct_diffusion(sound, f, u, iterations, lengths_)
                                : DarcyOperator(sound, lengths_).correct(f, u, iterations),
                     a},
                    1);
}

Tensor Darcy::constrain(const Tensor& x) const {
  check_shape(x);
  const auto factor = [&](int64_t n) {
    Tensor f = torch::ones({n}, x.options().requires_grad(false));
    f[0] = f[n - 1] = 1.0 / 3;
    return f;
  };
  const Tensor walls = factor(grid().height()).unsqueeze(1) * factor(grid().width());
  const Tensor between = inner(inner(x.narrow(1, 0, 1), 2), 3);
  return torch::cat({torch::replication_pad2d(between, {1, 1, 1, 1}) * walls, x.narrow(1, 1, 1)}, 1);
}

Decoded Darcy::decode(const Tensor& x) const {
  check_shape(x);
  const torch::NoGradGuard no_grad;
  const Tensor y = x.to(torch::kFloat64);
  require<NumericsError>(y.size(0) > 0 && all_finite(y), "[darcy] cannot decode {}: empty or not finite",
                         shape_string(x));
  const Tensor u = y.narrow(1, 0, 1), a_given = y.narrow(1, 1, 1), a = a_given.clamp_min(kCoefficientFloor);
  const CgResult result = solve_darcy(a, u, {}, lengths_);
  return {.x = torch::cat({result.x, a}, 1),
          .iterations = result.iterations,
          .moved = rms(result.x - u) / rms(result.x),
          .clamped = (a_given < kCoefficientFloor).sum({1, 2, 3})};
}

}  // namespace piddm
