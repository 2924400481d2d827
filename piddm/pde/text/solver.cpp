#include "piddm/pde/text/solver.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "piddm/core/error.h"
#include "piddm/pde/text/linear_solves.h"
#include "piddm/pde/text/newton.h"

namespace piddm {
namespace {

constexpr int64_t kLineBlock = 16, kPlaneBlock = 1, kDeviceBlock = 64;  // samples solved together

/// Mean over the rows in `inner` of something [B,X,Y]: [B].
Tensor mean_over(const Tensor& x, const Tensor& inner) {
  return (x * inner).sum(-1).sum(-1) / inner.sum().item<double>();
}

/// cos(2 pi x / n) along one axis of [1,1,X,Y].
Tensor wave(std::array<int64_t, 2> points, size_t axis, const torch::TensorOptions& options) {
  const int64_t n = points[axis];
  const Tensor along = torch::cos(torch::arange(n, torch::kFloat64) * (2 * std::numbers::pi / static_cast<double>(n)));
  return (axis == 0 ? along.view({1, 1, n, 1}) : along.view({1, 1, 1, n}))
      .expand({1, 1, points[0], points[1]})
      .to(options)
      .contiguous();
}

}  // namespace

TextSolver::TextSolver(std::shared_ptr<const TextSystem> system) : system_(std::move(system)) {
  const auto [x, y] = system_->points();
  for (int64_t f = 0; f < system_->fields(); ++f)
    separable_.emplace_back(system_->second_difference(f, 0), system_->second_difference(f, 1));
  inner_ = torch::zeros({x, y}, torch::kFloat64);
  inner_.narrow(0, x > 4 ? 2 : 0, x > 4 ? x - 4 : x).narrow(1, y > 4 ? 2 : 0, y > 4 ? y - 4 : y).fill_(1);
  const auto& pattern = system_->pattern();
  own_ = pattern.own();
  along_x_ = pattern.neighbours(0);
  along_y_ = pattern.neighbours(1);
  same_ = pattern.same_field();
  const Tensor seen = pattern.seen().unsqueeze(1).expand({-1, pattern.fields(), -1, -1}).flatten();
  sparse_places_ = seen.nonzero().squeeze(1);
  const Tensor rows = torch::arange(pattern.unknowns()).repeat({pattern.colours()});
  const Tensor columns = pattern.columns().unsqueeze(1).expand({-1, pattern.fields(), -1, -1}).flatten();
  sparse_rows_ = rows.index_select(0, sparse_places_);
  sparse_columns_ = columns.index_select(0, sparse_places_);
}

bool TextSolver::direct() const { return system_->points()[1] == 1; }

std::unique_ptr<SparseLu> TextSolver::sparse_factors() const {
  return std::make_unique<SparseLu>(system_->pattern().unknowns(), sparse_rows_, sparse_columns_);
}

Tensor TextSolver::sparse_values(const Tensor& entries) const {
  return entries.flatten().index_select(0, sparse_places_);
}

/// The rows of field f by field f are c0 + kx d_xx + ky d_yy with c0 their sum, kx h^2 the mean of the neighbours.
std::vector<Tensor> TextSolver::inverse_eigenvalues(const Tensor& entries) const {
  const auto& axes = system_->grid().axes();
  const Tensor inner = inner_.to(entries.options());
  std::vector<Tensor> all;
  for (int64_t f = 0; f < system_->fields(); ++f) {
    const auto total = [&](const Tensor& mask) {
      return mean_over((entries.select(2, f) * mask.select(1, f).to(entries.options())).sum(1), inner);
    };
    const auto diffusivity = [&](const Tensor& mask, size_t a) {
      return axes[a].present ? total(mask) * (0.5 * axes[a].spacing * axes[a].spacing)
                             : torch::zeros({entries.size(0)}, entries.options());
    };
    const auto& solver = separable_[static_cast<size_t>(f)];
    all.push_back(solver.to(entries.scalar_type(), entries.device())
                      .inverse_eigenvalues(total(same_), diffusivity(along_x_, 0), diffusivity(along_y_, 1)));
  }
  return all;
}

/// From J of a constant and of the longest wave along each axis.
std::vector<Tensor> TextSolver::inverse_eigenvalues(const LinearMap& product) const {
  const auto& axes = system_->grid().axes();
  const auto points = system_->points();
  std::vector<Tensor> all;
  for (int64_t f = 0; f < system_->fields(); ++f) {
    const auto response = [&](const Tensor& v) {
      Tensor field = torch::zeros({1, system_->fields(), points[0], points[1]}, v.options());
      field.select(1, f).copy_(v.select(1, 0));
      const Tensor out = product(field).select(1, f);
      return (out * v.select(1, 0)).flatten(1).sum(1) / v.square().sum();
    };
    const auto options = torch::TensorOptions(torch::kFloat64);
    const Tensor c0 = response(torch::ones({1, 1, points[0], points[1]}, options));
    const auto diffusivity = [&](size_t a) {
      const double w = 2 * std::numbers::pi / axes[a].length;
      return (c0 - response(wave(points, a, options))) / (w * w);
    };
    all.push_back(separable_[static_cast<size_t>(f)].inverse_eigenvalues(c0, diffusivity(0), diffusivity(1)));
  }
  return all;
}

Tensor TextSolver::solve_block(const Tensor& coefficients, const Tensor& start, int64_t first,
                               SolveReport& report) const {
  const int64_t b = coefficients.size(0);
  const auto& system = *system_;
  const Tensor ring = system.ring().to(coefficients.device());
  const bool has_ring = system.ring().any().item<bool>();
  const auto imposed = [&](const Tensor& u, int64_t level) {
    return has_ring ? torch::where(ring, system.ring_values(coefficients, level), u) : u;
  };
  TextLinearSolves linear(*this, b, coefficients.device());
  TextNewton newton(system, linear, coefficients, first);
  if (system.order() == 0) {
    const auto [x, y] = system.points();
    const Tensor guess =
        start.defined() ? start.select(2, 0) : torch::zeros({b, system.fields(), x, y}, coefficients.options());
    const Tensor u = newton.advance({imposed(guess, 0)}, {}, 0);
    report = newton.report();
    return u.unsqueeze(2);
  }
  std::vector<Tensor> levels = {system.initial(coefficients).select(2, 0)};
  for (int64_t level = 1; level < system.levels(); ++level) {
    const Tensor& last = levels.back();
    const Tensor before = level == 1 ? last.unsqueeze(2) : torch::stack({levels[levels.size() - 2], last}, 2);
    std::vector<Tensor> guesses = {imposed(last, level)};
    if (level > 1) guesses.push_back(imposed(2 * last - levels[levels.size() - 2], level));
    levels.push_back(newton.advance(guesses, before, level));
  }
  report = newton.report();
  return torch::stack(levels, 2);
}

Tensor TextSolver::solve(const Tensor& coefficients, const Tensor& start, SolveReport* report) const {
  const torch::NoGradGuard no_grad;
  const bool cpu = coefficients.is_cpu();
  const int64_t block = cpu ? (direct() ? kLineBlock : kPlaneBlock) : kDeviceBlock, n = coefficients.size(0);
  const int64_t count = (n + block - 1) / block;
  std::vector<Tensor> parts(static_cast<size_t>(count));
  std::vector<SolveReport> reports(static_cast<size_t>(count));
  const auto run = [&](int64_t begin, int64_t end) {
    const c10::InferenceMode no_bookkeeping;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * block, length = std::min(block, n - first);
      parts[static_cast<size_t>(i)] =
          solve_block(coefficients.narrow(0, first, length), start.defined() ? start.narrow(0, first, length) : start,
                      first, reports[static_cast<size_t>(i)]);
    }
  };
  if (cpu)
    at::parallel_for(0, count, 1, run);
  else
    run(0, count);
  if (report) {
    *report = {};
    for (const auto& r : reports) {
      report->iterations = std::max(report->iterations, r.iterations);
      report->relative_residual = std::max(report->relative_residual, r.relative_residual);
      report->each.insert(report->each.end(), r.each.begin(), r.each.end());
    }
  }
  return torch::cat(parts);
}

}  // namespace piddm
