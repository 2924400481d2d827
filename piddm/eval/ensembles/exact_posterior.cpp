#include "piddm/eval/ensembles/exact_posterior.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr double kExact = 3e-4;           // sigma of exact values, in standard deviations
constexpr int64_t kMostValues = 2048;     // of a case: their covariance is a matrix
constexpr int64_t kMostPoints = 64 * 64;  // of a grid
constexpr int64_t kRowsAtOnce = 256;

}  // namespace

ExactPosterior::ExactPosterior(const Poisson& pde, std::vector<double> scales) : law_(pde), shape_(pde.sample_shape()) {
  const int64_t entries = shape_[0] * shape_[1] * shape_[2];
  const auto of_channels = torch::tensor(scales, torch::kFloat64);
  scale_ = of_channels.view({-1, 1}).expand({shape_[0], shape_[1] * shape_[2]}).reshape({entries});
  std::vector<Tensor> parts;
  for (int64_t first = 0; first < entries; first += kRowsAtOnce) {
    const auto at = torch::arange(first, std::min(first + kRowsAtOnce, entries));
    parts.push_back(covariance_rows(at).gather(1, at.unsqueeze(1)).squeeze(1));
  }
  prior_ = torch::cat(parts);
}

std::string ExactPosterior::refusal(const Pde& pde, const Observation& observation) {
  if (!dynamic_cast<const Poisson*>(&pde)) return "its law is not Gaussian";
  if (!observation.functionals.empty()) return "it is for values at points";
  if (pde.grid().points() > kMostPoints) return fmt::format("it is for grids of at most {} points", kMostPoints);
  const auto most = observation.mask.flatten(1).sum(1).max().item<double>();
  return most > kMostValues ? fmt::format("it is for at most {} values per case", kMostValues) : "";
}

Tensor ExactPosterior::covariance_rows(const Tensor& entries) const {
  const int64_t all = shape_[0] * shape_[1] * shape_[2];
  const auto unit = torch::zeros({entries.size(0), all}, torch::kFloat64).scatter_(1, entries.unsqueeze(1), 1.0);
  return law_.apply(law_.transposed(unit.view({-1, shape_[0], shape_[1], shape_[2]}))).flatten(1);
}

GaussianMarginals ExactPosterior::one(const Tensor& values, const Tensor& mask, const Tensor& sigma) const {
  const auto at = (mask.flatten() > 0).nonzero().squeeze(1);
  if (at.size(0) == 0) return {torch::zeros(shape_, torch::kFloat64), prior_.sqrt().view(shape_)};
  const auto rows = covariance_rows(at);
  const auto noise = sigma.flatten().index_select(0, at).square() + (kExact * scale_.index_select(0, at)).square();
  const auto factor = torch::linalg_cholesky(rows.index_select(1, at) + torch::diag(noise));
  const auto solved = [&](const Tensor& b) { return torch::linalg_solve_triangular(factor, b, /*upper=*/false); };
  const auto half = solved(rows), y = solved(values.flatten().index_select(0, at).unsqueeze(1));
  const auto variance = prior_ - half.square().sum(0);
  return {half.t().matmul(y).view(shape_), variance.clamp_min(0).sqrt().view(shape_)};
}

GaussianMarginals ExactPosterior::of(const Observation& observation) const {
  const auto each = [](const Tensor& x) { return x.to(torch::kCPU, torch::kFloat64); };
  const auto values = each(observation.values), mask = each(observation.mask);
  const auto sigma = observation.sigma.defined() ? each(observation.sigma) : torch::zeros_like(mask);
  std::vector<Tensor> mean, deviation;
  for (int64_t i = 0; i < mask.size(0); ++i) {
    const auto found = one(values[i], mask[i], sigma[i]);
    mean.push_back(found.mean);
    deviation.push_back(found.deviation);
  }
  return {torch::stack(mean), torch::stack(deviation)};
}

Tensor wasserstein(const Tensor& members, const Tensor& mean, const Tensor& deviation) {
  const auto sorted = std::get<0>(members.sort(0));
  const int64_t count = members.size(0);
  const auto share = (torch::arange(count, torch::kFloat64) + 0.5) / static_cast<double>(count);
  const auto normal = std::sqrt(2.0) * torch::erfinv(2 * share - 1);
  auto squares = torch::zeros_like(mean);
  for (int64_t k = 0; k < count; ++k) squares += (sorted[k] - mean - deviation * normal[k]).square();
  return (squares / static_cast<double>(count)).sqrt();
}

}  // namespace piddm
