#include "piddm/solve/methods/diffusionpde.h"

#include <cmath>

#include "piddm/solve/methods/equation_rows.h"

namespace piddm {

namespace {

/// eta times the largest curvature of the residual, where nobody names eta: beyond 2 a step overshoots, and other
/// fields have a few times the curvature of those it is measured at.
constexpr double kUsualStep = 0.25;

/// The largest curvature of what the residual is measured by. Preconditioned it is about the mean square error of u.
double curvature(const Model& model, bool precondition) {
  if (precondition) return 2 / static_cast<double>(model.pde->grid().points());
  return EquationRows(model.pde, model.normalizer).curvature();
}

}  // namespace

DiffusionPdeMethod::DiffusionPdeMethod(const Model& model, const DiffusionPdeOptions& options)
    : BatchedMethod("diffusionpde", model, ModelKind::teacher, options.batch), options_(in_bounds(options)) {
  require<UsageError>(!options.guidance.precondition || model.pde->has_preconditioner(),
                      "precondition: {} has no fast solver", model.pde->name());
  if (options.guidance.eta < 0) options_.guidance.eta = kUsualStep / curvature(model, options.guidance.precondition);
}

std::optional<Suitability> DiffusionPdeMethod::suits(const Problem&) {
  return Suitability{Merit::guided, "the model is a teacher: of the samplers guided by the data the best measured"};
}

DiffusionPdeOptions DiffusionPdeMethod::matched(DiffusionPdeOptions options) {
  options.guidance.steps = compute_share(options.guidance.steps, 4, 5);
  return options;
}

std::vector<SearchFamily> DiffusionPdeMethod::search(const Model& model, Task task) {
  const double square = 1 / curvature(model, false);
  const auto family = [&](const std::string& name, const json& fixed, double low, double high) {
    SearchFamily out{.name = name, .fixed = fixed};
    out.axes = {{.key = "eta", .low = low, .high = high},
                {.key = "switch_at", .choices = {0.0, 0.5, 0.8}},
                {.key = "spacing", .choices = {"uniform", "quadratic"}}};
    if (task != Task::generate) {
      out.axes.push_back({.key = "zeta", .low = 0.1, .high = 100});
      out.axes.push_back({.key = "late_factor", .choices = {1.0, 0.1}});
    }
    return out;
  };
  const double root = std::sqrt(square);
  std::vector<SearchFamily> out = {family("mean square", json::object(), 0.01 * square, 2 * square),
                                   family("norm", {{"pde_penalty", "norm"}}, 1e-3 * root, 10 * root)};
  if (!model.pde->has_preconditioner()) return out;
  const double points = 1 / curvature(model, true);
  out.push_back(family("preconditioned", {{"precondition", true}}, 0.01 * points, 2 * points));
  return out;
}

Tensor DiffusionPdeMethod::sample(const Batch& batch) {
  const auto z = guided_sample(model_, noise(batch), batch.known, options_.guidance, name(), [this] { advance(); });
  return options_.hard ? batch.known.mixed(z) : z;
}

}  // namespace piddm
