#include "piddm/pde/text/linear_solves.h"

#include <limits>

#include "piddm/core/error.h"
#include "piddm/numerics/gmres.h"

namespace piddm {
namespace {

constexpr double kTolerance = 1e-10;  // of a linear system; Newton's next iteration takes the rest
constexpr double kAcceptable = 1e-4;  // above that the sparse LU is asked
constexpr double kSymmetric = 1e-12;

/// Fixed numbers without pattern, to tell whether a matrix is symmetric.
Tensor probe(const Tensor& like) {
  const Tensor i = torch::arange(like[0].numel(), torch::kFloat64);
  return torch::sin(i * i * 0.7 + i * 1.3).view(like.sizes().slice(1)).unsqueeze(0).to(like.options());
}

Tensor field_of(const Tensor& x, int64_t f) { return x.narrow(1, f, 1); }

}  // namespace

TextLinearSolves::TextLinearSolves(const TextSolver& solver, int64_t samples, torch::Device device)
    : solver_(solver),
      pattern_(solver.system().pattern()),
      direct_(device.is_cpu() && solver.direct()),
      factors_(static_cast<size_t>(samples)),
      singular_(static_cast<size_t>(samples), false) {}

void TextLinearSolves::renew(const Tensor& entries, const std::vector<bool>& which) {
  if (!entries_.defined())
    entries_ = entries.clone();
  else
    for (size_t i = 0; i < which.size(); ++i)
      if (which[i]) entries_[static_cast<int64_t>(i)].copy_(entries[static_cast<int64_t>(i)]);
  for (size_t i = 0; i < which.size(); ++i)
    if (which[i] && direct_) factorise(i);
  if (!direct_) {
    product_ = [this](const Tensor& v) { return stencil_product(pattern_, entries_, v); };
    prepare_preconditioner();
  }
}

void TextLinearSolves::renew(const LinearMap& product) {
  product_ = product;
  symmetric_ = false;
  inverse_eigenvalues_ = solver_.inverse_eigenvalues(product);
}

void TextLinearSolves::prepare_preconditioner() {
  inverse_eigenvalues_ = solver_.inverse_eigenvalues(entries_);
  const Tensor v = probe(entries_.select(1, 0)).expand(entries_.select(1, 0).sizes()).contiguous();
  const Tensor forward = stencil_product(pattern_, entries_, v), backward = stencil_transposed(pattern_, entries_, v);
  const Tensor own = (entries_ * solver_.own().to(entries_.options())).sum(1);
  const bool positive = own.gt(0).all().item<bool>(), negative = own.lt(0).all().item<bool>();
  symmetric_ = (positive || negative) &&
               (forward - backward).abs().max().item<double>() <= kSymmetric * forward.abs().max().item<double>();
  sign_ = negative ? -1 : 1;
}

void TextLinearSolves::factorise(size_t sample) {
  const Tensor entries = entries_[static_cast<int64_t>(sample)];
  if (!factors_[sample]) factors_[sample] = solver_.sparse_factors();
  try {
    factors_[sample]->factorise(solver_.sparse_values(entries));
    singular_[sample] = false;
  } catch (const NumericsError&) {
    singular_[sample] = true;
  }
}

Tensor TextLinearSolves::by_factors(size_t sample, const Tensor& b) const {
  if (singular_[sample]) return torch::full_like(b, std::numeric_limits<double>::quiet_NaN());
  return factors_[sample]->solve(b.flatten()).view_as(b);
}

Tensor TextLinearSolves::precondition(const Tensor& r) const {
  std::vector<Tensor> parts;
  for (int64_t f = 0; f < r.size(1); ++f)
    parts.push_back(solver_.separable(f).solve(field_of(r, f), inverse_eigenvalues_[static_cast<size_t>(f)]));
  return parts.size() == 1 ? parts.front() : torch::cat(parts, 1);
}

Tensor TextLinearSolves::solve(const Tensor& b) { return direct_ ? direct(b) : iterative(b); }

Tensor TextLinearSolves::direct(const Tensor& b) {
  std::vector<Tensor> x;
  for (int64_t i = 0; i < b.size(0); ++i) x.push_back(by_factors(static_cast<size_t>(i), b[i]));
  return torch::stack(x);
}

Tensor TextLinearSolves::iterative(const Tensor& b) {
  const LinearMap inverse = [this](const Tensor& r) { return precondition(r) * sign_; };
  const LinearMap product = [this](const Tensor& v) { return product_(v) * sign_; };
  Tensor x, missed;
  if (symmetric_) {
    CgOptions options = {.tolerance = kTolerance};
    options.acceptable = std::numeric_limits<double>::infinity();
    const auto result = conjugate_gradient(product, inverse, b * sign_, {}, options);
    x = result.x;
    missed = result.relative_residual.cpu();
  }
  if (!symmetric_ || missed.max().item<double>() > kAcceptable) {
    const auto result = gmres(product, inverse, b * sign_, x, {.tolerance = kTolerance});
    x = result.x;
    missed = result.relative_residual;
  }
  if (!b.is_cpu() || !entries_.defined()) return x;
  for (int64_t i = 0; i < b.size(0); ++i)
    if (!(missed[i].item<double>() <= kAcceptable)) {
      factorise(static_cast<size_t>(i));
      x[i] = by_factors(static_cast<size_t>(i), b[i]);
    }
  return x;
}

}  // namespace piddm
