#include "piddm/solve/methods/classical.h"

#include "piddm/core/interrupt.h"
#include "piddm/core/progress.h"
#include "piddm/core/stopwatch.h"
#include "piddm/solve/methods/elliptic_law.h"

namespace piddm {

namespace {

constexpr uint64_t kOwnStream = 0x9e3779b97f4a7c15;  // added to the seed, so that no data set has the same coefficients

}  // namespace

ClassicalMethod::ClassicalMethod(const Model& model, const ClassicalOptions& options)
    : model_(model), options_(options) {
  require<UsageError>(options.batch >= 1, "method.batch: must be at least 1, got {}", options.batch);
  require<UsageError>(options.accuracy > 0 && options.accuracy < 1, "method.accuracy: must be between 0 and 1, got {}",
                      options.accuracy);
}

std::string ClassicalMethod::refusal(Task task, const Pde& pde) {
  const bool invertible = dynamic_cast<const Poisson*>(&pde) || dynamic_cast<const Darcy*>(&pde);
  if (task == Task::generate || task == Task::forward || invertible) return "";
  return "it solves for unknown coefficients of poisson, helmholtz and darcy only; here it needs all of them";
}

Samples ClassicalMethod::generate(int64_t first, int64_t n, uint64_t seed) {
  const Stopwatch watch;
  Progress progress("samples of the law", n);
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < n; at += options_.batch) {
    throw_if_interrupted("generating");
    const int64_t count = std::min(options_.batch, n - at);
    parts.push_back(model_.pde->sample(seed + kOwnStream, first + at, count, nullptr, model_.device()).to(torch::kCPU));
    progress.advance(count);
  }
  return {torch::cat(parts), 0, 0, watch.seconds() / static_cast<double>(n)};
}

Samples ClassicalMethod::solve(const Observation& observation, uint64_t seed) {
  const auto target = make_target(observation, model_, name(), torch::kFloat64);
  check_given_coefficients(target, model_, name());
  const int64_t n = target.mask.size(0);
  const Stopwatch watch;
  Progress progress("solving", n);
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < n; at += options_.batch) {
    throw_if_interrupted("solving");
    const auto part = target.narrow(at, std::min(options_.batch, n - at));
    parts.push_back(solve_part(part, seed, at).to(torch::kCPU));
    progress.advance(part.mask.size(0));
  }
  return {torch::cat(parts), 0, 0, watch.seconds() / static_cast<double>(n)};
}

Tensor ClassicalMethod::solve_part(const Target& target, uint64_t seed, int64_t first) const {
  const auto& pde = *model_.pde;
  const auto x = model_.normalizer.to_physical(target.values);
  if (pde.coefficients(target.exact).all().item<bool>()) return pde.decode(x).x;
  if (const auto* poisson = dynamic_cast<const Poisson*>(&pde)) return elliptic(*poisson, target, seed, first);
  if (const auto* darcy = dynamic_cast<const Darcy*>(&pde))
    return DarcyInversion(*darcy, model_.normalizer.scale(0), options_.darcy).solve(data_of(target));
  throw UsageError("[classical] {}: {}", pde.name(), refusal(Task::inverse, pde));
}

Tensor ClassicalMethod::channel_scales(const Tensor& like) const {
  std::vector<double> scales;
  for (int64_t c = 0; c < model_.normalizer.num_channels(); ++c) scales.push_back(model_.normalizer.scale(c));
  return torch::tensor(scales, torch::kFloat64).to(like.device()).view({1, -1, 1, 1});
}

NoisyValues ClassicalMethod::data_of(const Target& target) const {
  const auto sigma = torch::sqrt(target.sigma.square() + options_.accuracy * options_.accuracy);
  return {model_.normalizer.to_physical(target.values), target.mask / (sigma * channel_scales(target.mask)).square()};
}

Tensor ClassicalMethod::elliptic(const Poisson& pde, const Target& target, uint64_t seed, int64_t first) const {
  const EllipticLaw law(pde);
  const double sigma_a = options_.accuracy * model_.normalizer.scale(1);
  const auto data = law.with_stencils(data_of(target), target.exact, 1 / (sigma_a * sigma_a));
  if (options_.estimate == Estimate::mean) return law.posterior(data);
  const int64_t n = pde.grid();
  const auto xi =
      normal(seed, Stream::tasks, first, target.mask.size(0), {3, n, n}, torch::kFloat64).to(target.mask.device());
  return law.posterior(data, {.eta = xi.narrow(1, 0, 2), .xi = xi.narrow(1, 2, 1)});
}

}  // namespace piddm
