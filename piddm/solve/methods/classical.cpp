#include "piddm/solve/methods/classical.h"

#include "piddm/solve/methods/darcy_inversion.h"
#include "piddm/solve/methods/elliptic_law.h"

namespace piddm {

namespace {

constexpr uint64_t kOwnStream = 0x9e3779b97f4a7c15;  // added to the seed, so that no data set has the same coefficients

}  // namespace

ClassicalMethod::ClassicalMethod(const Model& model, const ClassicalOptions& options)
    : BatchedMethod("classical", model, {}, options.batch), options_(in_bounds(options)) {}

std::string ClassicalMethod::refusal(Task task, const Pde& pde) {
  const bool invertible = dynamic_cast<const Poisson*>(&pde) || dynamic_cast<const Darcy*>(&pde);
  if (task == Task::generate || task == Task::forward || invertible) return "";
  return "it solves for unknown coefficients of poisson, helmholtz and darcy only; here it needs all of them";
}

Tensor ClassicalMethod::sample(const Batch& batch) {
  const auto x = batch.known.empty()
                     ? model_.pde->sample(batch.seed + kOwnStream, batch.first, batch.count, nullptr, model_.device())
                     : solved(batch);
  advance();
  return x;
}

Tensor ClassicalMethod::solved(const Batch& batch) const {
  const auto& pde = *model_.pde;
  const auto& known = batch.known;
  if (pde.coefficients(known.exact).all().item<bool>())
    return pde.decode(model_.normalizer.to_physical(known.values)).x;
  if (const auto* poisson = dynamic_cast<const Poisson*>(&pde)) return elliptic(*poisson, batch);
  if (const auto* darcy = dynamic_cast<const Darcy*>(&pde))
    return DarcyInversion(*darcy, model_.normalizer.scale(0)).solve(data_of(known));
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

Tensor ClassicalMethod::elliptic(const Poisson& pde, const Batch& batch) const {
  const EllipticLaw law(pde);
  const double sigma_a = options_.accuracy * model_.normalizer.scale(1);
  const auto data = law.with_stencils(data_of(batch.known), batch.known.exact, 1 / (sigma_a * sigma_a));
  if (options_.estimate == Estimate::mean) return law.posterior(data);
  const auto xi = normal(batch.seed, Stream::tasks, batch.first, batch.count,
                         {3, pde.grid().height(), pde.grid().width()}, torch::kFloat64)
                      .to(batch.known.mask.device());
  return law.posterior(data, {.eta = xi.narrow(1, 0, 2), .xi = xi.narrow(1, 2, 1)});
}

}  // namespace piddm
