#include "piddm/solve/methods/direct.h"

#include "piddm/core/interrupt.h"
#include "piddm/numerics/lbfgs.h"
#include "piddm/pde/burgers.h"
#include "piddm/pde/darcy.h"
#include "piddm/pde/heat.h"
#include "piddm/pde/stefan.h"

namespace piddm {

namespace {

// Gradients of means over thousands of entries are small; these let L-BFGS go on to round-off.
constexpr double kGradientTolerance = 1e-13, kChangeTolerance = 1e-15;

/// Whether the discrete equation determines the coefficients of a known solution, well enough for float32 data.
bool fixes_coefficients(const Pde& pde) {
  return dynamic_cast<const Darcy*>(&pde) || dynamic_cast<const Burgers*>(&pde) || dynamic_cast<const Heat*>(&pde) ||
         dynamic_cast<const Stefan*>(&pde);
}

Tensor mean_square(const Tensor& x) { return x.square().mean({1, 2, 3}); }

Tensor mean_square(const std::vector<Tensor>& fields, const Tensor& unit) {
  std::vector<Tensor> squares;
  for (const auto& field : fields) squares.push_back(mean_square(field / unit));
  return mean_of(squares);
}

}  // namespace

DirectMethod::DirectMethod(const Model& model, const DirectOptions& options)
    : BatchedMethod("direct", model, {}, options.batch),
      rows_(model.pde, model.normalizer),
      options_(in_bounds(options)) {}

std::string DirectMethod::refusal(Task task, const Pde&) {
  return task == Task::generate ? "it knows no law to draw from; it only fits observations" : "";
}

std::string DirectMethod::draw_refusal(Task, const Pde&) {
  return "it has one answer to a case, that nearest to the mean field, and no law to draw others from";
}

std::optional<Suitability> DirectMethod::suits(const Problem& problem) {
  if (!problem.exact_solution || !problem.exact_given || problem.functionals) return {};
  if (!fixes_coefficients(problem.pde())) return {};
  return Suitability{Merit::exact, "the whole solution is known exactly, and the equation gives the coefficients"};
}

Tensor DirectMethod::minimum(const Target& target) const {
  const auto& pde = *model_.pde;
  const Tensor start = torch::zeros_like(target.values), free = 1 - (options_.hard ? target.exact : 0 * target.exact);
  const bool fast = options_.precondition && pde.has_preconditioner() && pde.solution(free).mean().item<double>() > 0.5;
  const Tensor unit = LinearizedRows(rows_, options_.hard ? target.mixed(start) : start, free).mean_square_row().sqrt();
  const auto physics = [&](const Tensor& z) {
    const auto h = rows_(z);
    const auto edge = rows_.boundary(h);
    const auto error = fast ? mean_square(rows_.implied_error(h, &Normalizer::scale))
                            : mean_square(rows_.equations(h), unit.clamp_min(1e-300));
    return edge.size(3) == 0 ? error : error + mean_square(edge);
  };
  const auto loss = [&](const Tensor& z) {
    throw_if_interrupted("optimising fields");
    auto value = target.misfit(z);
    if (options_.lambda > 0) value = value + options_.lambda * physics(options_.hard ? target.mixed(z) : z);
    return options_.ridge > 0 ? value + options_.ridge * mean_square(z) : value;
  };
  return minimize_lbfgs(with_gradient(loss), start,
                        {.iterations = options_.iterations,
                         .history = 20,
                         .tolerance_grad = kGradientTolerance,
                         .tolerance_change = kChangeTolerance,
                         .max_evaluations = options_.iterations})
      .x;
}

Tensor DirectMethod::sample(const Batch& batch) {
  require<UsageError>(!batch.known.empty(), "[direct] {}", refusal(Task::generate, *model_.pde));
  const auto z = minimum(batch.known);
  advance();
  return options_.hard ? batch.known.mixed(z) : z;
}

}  // namespace piddm
