#include "piddm/solve/methods/classical.h"

#include "piddm/solve/methods/darcy_inversion.h"
#include "piddm/solve/methods/elliptic_law.h"

namespace piddm {

namespace {

constexpr uint64_t kOwnStream = 0x9e3779b97f4a7c15;  // added to the seed, so that no data set has the same coefficients

/// Whether the data that the model was trained on spread as samples of the PDE's own law do.
bool has_the_law(const Model& model) {
  constexpr int64_t kDrawn = 16;
  constexpr double kFactor = 1.5;
  const auto x = model.pde->sample(kOwnStream, 0, kDrawn);
  for (int64_t c = 0; c < model.pde->num_channels(); ++c) {
    const double ratio = model.normalizer.std(c) / x.select(1, c).std().item<double>();
    if (ratio > kFactor || ratio < 1 / kFactor) return false;
  }
  return true;
}

}  // namespace

ClassicalMethod::ClassicalMethod(const Model& model, const ClassicalOptions& options)
    : BatchedMethod("classical", model, {}, options.batch), options_(in_bounds(options)) {}

std::string ClassicalMethod::refusal(Task task, const Pde& pde) {
  const bool invertible = dynamic_cast<const Poisson*>(&pde) || dynamic_cast<const Darcy*>(&pde);
  if (task == Task::generate || task == Task::forward || invertible) return "";
  return "it solves for unknown coefficients of poisson, helmholtz and darcy only; here it needs all of them";
}

std::string ClassicalMethod::draw_refusal(Task task, const Pde& pde) {
  if (task == Task::forward || dynamic_cast<const Poisson*>(&pde)) return "";
  return "it draws from the posterior where the law is Gaussian: of poisson and helmholtz";
}

std::optional<Suitability> ClassicalMethod::suits(const Problem& problem) {
  const bool linear = dynamic_cast<const Poisson*>(&problem.pde()) != nullptr;
  if (problem.exact_coefficients && (linear || !problem.functionals))
    return Suitability{Merit::exact, "every coefficient is known exactly: the PDE's solver"};
  if (!linear || !has_the_law(problem.model)) return {};
  return Suitability{Merit::exact,
                     fmt::format("{} is linear and its law Gaussian: exact conditioning", problem.pde().name())};
}

bool ClassicalMethod::takes_functionals() const { return dynamic_cast<const Poisson*>(model_.pde.get()) != nullptr; }

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

Functionals ClassicalMethod::functionals_of(const Target& target) const {
  auto f = target.functionals;
  if (f.empty()) return f;
  f.sigma = torch::sqrt(f.sigma.square() + options_.accuracy * options_.accuracy);
  f = f.to_physical(model_.normalizer);
  f.trust = f.sigma.pow(-2);
  return f;
}

Tensor ClassicalMethod::elliptic(const Poisson& pde, const Batch& batch) const {
  const EllipticLaw law(pde);
  const double sigma_a = options_.accuracy * model_.normalizer.scale(1);
  const auto data = law.with_stencils(data_of(batch.known), batch.known.exact, 1 / (sigma_a * sigma_a));
  const auto functionals = functionals_of(batch.known);
  if (options_.estimate == Estimate::mean) return law.posterior(data, functionals, {}, {});
  const auto draw = [&](Stream stream, const std::vector<int64_t>& shape) {
    return normal(batch.seed, stream, batch.first, batch.count, shape, torch::kFloat64).to(batch.known.mask.device());
  };
  const auto xi = draw(Stream::tasks, {3, pde.grid().height(), pde.grid().width()});
  const PosteriorNoise noise{.eta = xi.narrow(1, 0, 2), .xi = xi.narrow(1, 2, 1)};
  if (functionals.empty()) return law.posterior(data, noise);
  const int64_t rows = functionals.count(batch.count).max().item<int64_t>();
  return law.posterior(data, functionals, noise, draw(Stream::sensor_noise, {rows}));
}

}  // namespace piddm
