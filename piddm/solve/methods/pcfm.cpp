#include "piddm/solve/methods/pcfm.h"

#include "piddm/core/log.h"
#include "piddm/solve/methods/divergence.h"

namespace piddm {

namespace {

constexpr double kMet = 1e-6;  // an equation is met if the sample is this near to it, network units

constexpr ProjectionOptions kOnTheWay{.newton = 1, .iterations = 20};
constexpr ProjectionOptions kLast{.newton = 20, .iterations = 2000, .tolerance = 1e-10};

/// Entries of u that hold the same value in every sample (walls with u = 0), 1 where so: only of PDEs whose conditions
/// do not depend on coefficients.
Tensor fixed_boundary(const Pde& pde, const Tensor& like) {
  Tensor fixed = torch::zeros_like(like);
  if (pde.has_preconditioner())
    pde.solution(fixed).copy_(pde.given_boundary().to(like.options()).expand_as(pde.solution(fixed)));
  return fixed;
}

/// Whether anything of the solution is known beyond what the coefficients give away.
bool solution_is_observed(const Pde& pde, const Tensor& mask) {
  return (pde.solution(mask) * (1 - pde.given_boundary().to(mask.options()))).any().item<bool>();
}

Tensor constant_scalars(const Tensor& z, const Pde& pde) {
  auto out = z.clone();
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    if (pde.channels()[static_cast<size_t>(c)].scalar)
      out.select(1, c).copy_(z.select(1, c).mean({1, 2}, true).expand_as(z.select(1, c)));
  return out;
}

}  // namespace

PcfmMethod::PcfmMethod(const Model& model, const PcfmOptions& options)
    : BatchedMethod("pcfm", model, ModelKind::teacher, options.batch),
      rows_(model.pde, model.normalizer),
      options_(in_bounds(options)) {}

Tensor PcfmMethod::projected(const Tensor& z, const Target& target, const ProjectionOptions& options) const {
  const auto& pde = *model_.pde;
  const auto fixed = fixed_boundary(pde, z);
  const auto walls = model_.normalizer.to_network(pde.constrain(model_.normalizer.to_physical(z)));
  const auto start = target.mixed(fixed * walls + (1 - fixed) * z);
  const auto projection = project(rows_, start, (1 - target.exact) * (1 - fixed), options);
  const double worst = projection.violation.max().item<double>();
  if (options.newton > 1 && !(worst <= kMet))
    spdlog::warn("[pcfm] the equations are met to {:.1e} of the fields' standard deviation only", worst);
  return projection.z;
}

Tensor PcfmMethod::finished(const Tensor& z, const Target& target) const {
  const auto& pde = *model_.pde;
  if (!solution_is_observed(pde, target.mask))
    return model_.normalizer.to_network(pde.decode(model_.normalizer.to_physical(target.mixed(z))).x);
  return constant_scalars(projected(z, target, kLast), pde);
}

Tensor PcfmMethod::sample(const Batch& batch) {
  const torch::NoGradGuard no_grad;
  const auto e = noise(batch);
  const auto nothing = torch::zeros_like(e, torch::kFloat64);
  const auto target = batch.known.empty() ? exact_target(nothing, nothing) : batch.known;
  const auto pull = (target.mask - target.exact) / (1 + target.sigma.square());
  const TeacherSteps steps(model_, options_.steps, options_.spacing);
  DivergenceGuard guard("pcfm", nothing);
  Tensor x = e, z;
  for (int64_t i = 0; i < options_.steps; ++i) {
    const auto clean = steps.clean(x, steps.velocity(x, i), i).to(torch::kFloat64);
    z = guard.step(clean + pull * (target.values - clean), clean);
    if (i + 1 < options_.steps) {
      z = projected(z, target, kOnTheWay);
      x = model_.process->diffuse(z.to(e.scalar_type()), e, steps.time(i + 1, e));
    }
    advance();
  }
  return finished(guard.finish(z), target);
}

}  // namespace piddm
