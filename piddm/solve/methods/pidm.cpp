#include "piddm/solve/methods/pidm.h"

namespace piddm {

PidmMethod::PidmMethod(const Model& model, const PidmMethodOptions& options) : TeacherMethod("pidm", model, options) {
  require<UsageError>(
      model.training.residual_lambda > 0,
      "[pidm] this model was trained without a residual; train one with --set pidm.lambda=10, or use the "
      "method teacher");
}

std::vector<SearchFamily> PidmMethod::search(const Model& /*model*/, Task task) {
  SearchFamily times{.name = "times", .axes = {{.key = "spacing", .choices = {"uniform", "quadratic"}}}};
  if (task == Task::generate)
    times.axes.push_back({.key = "integrator", .choices = {"euler", "heun"}});
  else
    times.axes.push_back({.key = "zeta", .low = 0.1, .high = 10});
  return {times};
}

PidmMethodOptions PidmMethod::matched(PidmMethodOptions options) {
  options.steps = compute_share(options.steps, 3, 1);
  return options;
}

}  // namespace piddm
