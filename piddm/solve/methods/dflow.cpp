#include "piddm/solve/methods/dflow.h"

#include "piddm/core/log.h"
#include "piddm/solve/methods/equation_rows.h"

namespace piddm {

namespace {

/// lambda times the largest curvature of the residual, where nobody names lambda: of the order of the paper's 10 on
/// Darcy at 128x128.
constexpr double kUsualWeight = 2.5;

/// The same beside a preconditioned residual, which is an error of u as the misfit is one.
constexpr double kPreconditionedWeight = 10;

double usual_weight(const Model& model, bool precondition) {
  return precondition ? kPreconditionedWeight : kUsualWeight / EquationRows(model.pde, model.normalizer).curvature();
}

}  // namespace

DflowMethod::DflowMethod(const Model& model, const DflowOptions& options)
    : BatchedMethod("dflow", model, ModelKind::teacher, options.batch),
      options_(in_bounds(options)),
      trajectory_(model, options.steps, options.segment, options.spacing) {
  require<UsageError>(options.task.iterations >= 1, "task.iterations: must be at least 1, got {}",
                      options.task.iterations);
  require<UsageError>(!options.precondition || model.pde->has_preconditioner(), "precondition: {} has no fast solver",
                      model.pde->name());
  if (options.precondition) rows_ = std::make_shared<const EquationRows>(model.pde, model.normalizer);
  if (options.lambda < 0) options_.lambda = usual_weight(model, options.precondition);
}

Evaluations DflowMethod::evaluations(const DflowOptions& o, Task) {
  constexpr double kRepeats = 1.3;  // segments are computed twice
  return {0, kRepeats * static_cast<double>(o.steps) * static_cast<double>(o.task.iterations)};
}

DflowOptions DflowMethod::matched(DflowOptions options) {
  options.task.iterations = compute_share(options.task.iterations, 2, 5);
  return options;
}

// Iterations are trajectories: twice as many of them as steps.
DflowOptions DflowMethod::within(DflowOptions options, Task /*task*/, int64_t evaluations) {
  const auto steps = std::llround(std::sqrt(0.5 * static_cast<double>(evaluations)));
  options.steps = std::clamp<int64_t>(steps, 1, options.steps);
  options.task.iterations = std::max<int64_t>(1, evaluations / options.steps);
  return options;
}

std::vector<SearchFamily> DflowMethod::search(const Model& model, Task task) {
  const auto family = [&](const std::string& name, bool precondition) {
    const double usual = usual_weight(model, precondition);
    SearchFamily out{.name = name, .fixed = {{"precondition", precondition}}};
    out.axes = {{.key = "lambda", .low = 0.01 * usual, .high = 100 * usual},
                {.key = "spacing", .choices = {"uniform", "quadratic"}}};
    if (task != Task::generate) out.axes.push_back({.key = "spread", .low = 0.05, .high = 1});
    return out;
  };
  std::vector<SearchFamily> out = {family("residual", false)};
  if (model.pde->has_preconditioner()) out.push_back(family("preconditioned", true));
  return out;
}

Tensor DflowMethod::loss(const Tensor& z, const Target& known) const {
  const auto mixed = options_.hard ? known.mixed(z) : z;
  const double beside = options_.lambda > 0 ? options_.boundary / options_.lambda : 0;
  const auto residual =
      options_.lambda * (rows_ ? implied_error_norm(*rows_, mixed, beside) : residual_norm(model_, mixed, beside));
  return known.empty() ? residual : known.misfit(z) + residual;
}

Evaluation DflowMethod::evaluate(const Tensor& noise, const Target& known) {
  return trajectory_.evaluate(noise, [&](const Tensor& z) { return loss(z, known); });
}

Tensor DflowMethod::sample(const Batch& batch) {
  bool finite = true;
  const int64_t before = trajectory_.recomputed();
  const BatchObjective objective = [&](const Tensor& e) {
    auto evaluation = evaluate(e, batch.known);
    finite = finite && all_finite(evaluation.value);
    advance();
    return evaluation;
  };
  const auto start = batch.known.empty() ? noise(batch) : options_.spread * noise(batch);
  const auto e = minimize_latents(objective, start, options_.task);
  recomputed_ += trajectory_.recomputed() - before;
  if (!finite) spdlog::warn("[dflow] some trajectories were not finite; the best noise found before is kept");
  const WorkMeter output(*model_.network);
  const auto z = trajectory_.end(e);
  uncounted_ += output.spent().forward;
  return options_.hard ? batch.known.mixed(z) : z;
}

int64_t DflowMethod::extra_bytes() const {
  const int64_t state = 4 * model_.pde->num_channels() * model_.pde->grid().points();
  const int64_t segment = options_.segment == 0 ? options_.steps : options_.segment;
  return options_.steps / segment * state + (segment - 1) * model_.bytes_per_sample(true);
}

}  // namespace piddm
