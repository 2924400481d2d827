#include "piddm/solve/methods/equation_rows.h"

#include <cmath>

#include "piddm/core/interrupt.h"
#include "piddm/numerics/conjugate_gradient.h"
#include "piddm/pde/physics_loss.h"

namespace piddm {

namespace {

constexpr int kStepHalvings = 6;
constexpr double kRoundOff = 1e-13;  // of the violation: all equations are met
constexpr double kGain = 0.9;        // of |h|^2: a step that leaves more has gained nothing
constexpr uint64_t kProbeSeed = 1;
constexpr int64_t kLawSamples = 2;
constexpr int kPowerIterations = 20;  // a curvature to a few per cent

Tensor squared_norm(const Tensor& x) { return x.square().sum({1, 2, 3}, true); }

/// +1 and -1, the same for every sample.
Tensor signs(const Tensor& like) {
  const auto u = uniform(kProbeSeed, Stream::splits, 0, 1, {1, 1, like.size(3)}, torch::kFloat64);
  return ((u < 0.5).to(torch::kFloat64) * 2 - 1).to(like.options()).expand_as(like).contiguous();
}

Tensor gradient(const Tensor& of, const Tensor& by, const Tensor& weights, bool create_graph) {
  return torch::autograd::grad({of}, {by}, {weights}, /*retain_graph=*/true, create_graph)[0];
}

/// Whether most of the solution is free: then the fast solver stands for J J^T.
bool solution_is_free(const Pde& pde, const Tensor& free) { return pde.solution(free).mean().item<double>() > 0.5; }

Tensor newton_step(const EquationRows& rows, const LinearizedRows& at, const ProjectionOptions& options, bool fast) {
  const Tensor eps = at.mean_square_row() * options.damping;
  const auto normal = [&](const Tensor& p) {
    throw_if_interrupted("projecting");
    return at.product(at.transposed(p)) + eps * p;
  };
  const auto preconditioner = [&](const Tensor& r) { return fast ? rows.solve_normal(r) : r; };
  const CgOptions cg{.tolerance = options.tolerance,
                     .acceptable = INFINITY,
                     .max_iterations = options.iterations,
                     .patience = options.iterations};
  return -at.transposed(conjugate_gradient(normal, preconditioner, at.value(), {}, cg).x);
}

}  // namespace

Tensor residual_norm(const Model& model, const Tensor& z, double boundary) {
  return weighted(physics_loss(*model.pde, model.normalizer.to_physical(z)), boundary, model.normalizer.std(0));
}

Tensor implied_error_norm(const EquationRows& rows, const Tensor& z, double boundary) {
  const auto h = rows(z), edge = rows.boundary(h);
  const auto inside = rows.implied_error(h, &Normalizer::std).square().flatten(1).mean(1);
  return boundary == 0 || edge.size(3) == 0 ? inside : inside + boundary * edge.square().flatten(1).mean(1);
}

EquationRows::EquationRows(PdePtr pde, Normalizer normalizer)
    : pde_(std::move(pde)), normalizer_(std::move(normalizer)) {
  const torch::NoGradGuard no_grad;
  const auto r = pde_->residual(torch::ones(pde_->sample_shape(), torch::kFloat64).unsqueeze(0));
  const auto equations = pde_->equations();
  for (size_t i = 0; i < equations.size(); ++i) {
    const auto& field = r.fields.at(i).interior;
    parts_.push_back({field.size(2), field.size(3), equations.front().scale / equations[i].scale});
    inside_ += field.size(2) * field.size(3);
  }
}

Tensor EquationRows::operator()(const Tensor& z) const {
  const auto r = pde_->residual(normalizer_.to_physical(z));
  const auto equations = pde_->equations();
  std::vector<Tensor> parts;
  for (size_t i = 0; i < equations.size(); ++i) parts.push_back((r.fields[i].interior * equations[i].scale).flatten(1));
  if (r.boundary.defined()) parts.push_back(r.boundary / normalizer_.std(0));
  return (parts.size() == 1 ? parts.front() : torch::cat(parts, 1)).unsqueeze(1).unsqueeze(1);
}

std::vector<Tensor> EquationRows::equations(const Tensor& rows) const {
  std::vector<Tensor> fields;
  int64_t first = 0;
  for (const auto& part : parts_) {
    const int64_t count = part.height * part.width;
    fields.push_back(rows.narrow(3, first, count).reshape({-1, 1, part.height, part.width}));
    first += count;
  }
  return fields;
}

Tensor EquationRows::boundary(const Tensor& rows) const { return rows.narrow(3, inside_, rows.size(3) - inside_); }

Residual EquationRows::residual(const Tensor& rows) const {
  Residual out;
  const auto fields = equations(rows);
  for (size_t i = 0; i < fields.size(); ++i)
    out.fields.push_back({i == 0 ? fields[i] : fields[i] * parts_[i].to_first});
  return out;
}

Tensor EquationRows::implied_error(const Tensor& rows, double (Normalizer::*unit)(int64_t) const) const {
  const double c = pde_->equations().front().scale;
  const auto error = pde_->precondition(residual(rows));
  std::vector<Tensor> channels;
  for (int64_t i = 0; i < error.size(1); ++i) channels.push_back(error.narrow(1, i, 1) / (c * (normalizer_.*unit)(i)));
  return channels.size() == 1 ? channels.front() : torch::cat(channels, 1);
}

Tensor EquationRows::solve_normal(const Tensor& rows) const {
  if (parts_.size() > 1) return torch::cat({solve_several(rows), boundary(rows)}, 3);
  const double unit = pde_->equations().front().scale * normalizer_.scale(0);
  const Residual once{.fields = {{pde_->precondition(residual(rows))}}};  // L is symmetric
  return torch::cat({(pde_->precondition(once) / (unit * unit)).reshape({-1, 1, 1, inside_}), boundary(rows)}, 3);
}

double EquationRows::curvature() const {
  const torch::NoGradGuard no_grad;
  const auto data = normalizer_.to_network(pde_->sample(0, 0, kLawSamples));
  const auto z = torch::cat({torch::zeros_like(data.narrow(0, 0, 1)), data});
  const LinearizedRows at(*this, z, torch::ones_like(z));  // block-diagonal: the largest of all samples
  auto weight = torch::zeros_like(at.value());             // none on the boundary
  int64_t first = 0;
  for (const auto& part : parts_) {
    const int64_t count = part.height * part.width;
    weight.narrow(3, first, count).fill_(2.0 / static_cast<double>(count * static_cast<int64_t>(parts_.size())));
    first += count;
  }
  auto direction = at.transposed(weight * signs(at.value()));
  double largest = 0;
  for (int i = 0; i < kPowerIterations; ++i) {
    const auto length = direction.norm();
    require<NumericsError>(length.item<double>() > 0, "[{}] the residual does not change with the fields",
                           pde_->name());
    direction = at.transposed(weight * at.product(direction / length));
    largest = direction.norm().item<double>();
  }
  return largest;
}

/// L^-T by automatic differentiation: w -> L^-1 w is linear.
Tensor EquationRows::solve_several(const Tensor& rows) const {
  const torch::AutoGradMode with_grad(true);
  const auto leaf = rows.detach().narrow(3, 0, inside_).clone().requires_grad_();
  const auto error = implied_error(leaf, &Normalizer::scale);
  return torch::autograd::grad({error}, {leaf}, {error.detach()})[0];
}

LinearizedRows::LinearizedRows(const EquationRows& rows, const Tensor& z, const Tensor& free) : free_(free) {
  const torch::AutoGradMode with_grad(true);
  z_ = z.detach().clone().requires_grad_();
  rows_ = rows(z_);
  value_ = rows_.detach();
  dummy_ = torch::zeros_like(value_).requires_grad_();
  pulled_ = gradient(rows_, z_, dummy_, true);
  const auto probe = gradient(rows_, z_, signs(value_), false);
  const auto count = static_cast<double>(value_.size(3));
  whole_row_ = squared_norm(probe) / count;
  free_row_ = squared_norm(free_ * probe) / count;
}

Tensor LinearizedRows::transposed(const Tensor& rows) const { return free_ * gradient(rows_, z_, rows, false); }

Tensor LinearizedRows::product(const Tensor& direction) const {
  return gradient(pulled_, dummy_, free_ * direction, false);
}

Projection project(const EquationRows& rows, const Tensor& start, const Tensor& free,
                   const ProjectionOptions& options) {
  const torch::NoGradGuard no_grad;
  const bool fast = rows.pde().has_preconditioner() && solution_is_free(rows.pde(), free);
  const auto violation = [](const Tensor& size, const LinearizedRows& at) {
    return (size / static_cast<double>(at.value().size(3)) / at.whole_row().clamp_min(1e-300)).sqrt();
  };
  Tensor z = start.detach(), missed;
  for (int64_t k = 0; k < options.newton; ++k) {
    const LinearizedRows at(rows, z, free);
    const Tensor before = squared_norm(at.value()), step = newton_step(rows, at, options, fast);
    Tensor size = before, open = torch::ones_like(size, torch::kBool);
    double factor = 1;
    for (int i = 0; i < kStepHalvings && open.any().item<bool>(); ++i, factor /= 2) {
      const Tensor candidate = z + factor * step, candidate_size = squared_norm(rows(candidate));
      const Tensor better = open & (candidate_size < size);
      z = torch::where(better, candidate, z);
      size = torch::where(better, candidate_size, size);
      open = open & better.logical_not();
    }
    missed = violation(size, at);
    if (((missed <= kRoundOff) | (size > kGain * before)).all().item<bool>()) break;
  }
  return {z, missed.flatten()};
}

}  // namespace piddm
