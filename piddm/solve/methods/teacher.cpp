#include "piddm/solve/methods/teacher.h"

#include "piddm/model/flow.h"
#include "piddm/solve/methods/guidance.h"

namespace piddm {

TeacherMethod::TeacherMethod(const std::string& name, const Model& model, const TeacherOptions& options)
    : BatchedMethod(name, model, ModelKind::teacher, options.batch), options_(in_bounds(options)) {}

Evaluations TeacherMethod::evaluations(const TeacherOptions& o, Task task) {
  const auto steps = static_cast<double>(o.steps);
  if (task != Task::generate) return {0, steps};
  return {steps * static_cast<double>(evaluations_of_step(o.integrator)), 0};
}

TeacherOptions TeacherMethod::within(const TeacherOptions& o, Task task, int64_t evaluations) {
  if (task != Task::generate || o.integrator != IntegratorKind::heun) return with_steps(o, evaluations);
  return with_steps(o, evaluations + 1, evaluations_of_step(o.integrator));  // its last step is Euler's
}

int64_t TeacherMethod::steps(bool observed) const {
  return observed || options_.integrator != IntegratorKind::adaptive ? options_.steps : 1;
}

Tensor TeacherMethod::sample(const Batch& batch) {
  if (batch.known.empty()) {
    const torch::NoGradGuard no_grad;
    return flow(model_, noise(batch),
                {.kind = options_.integrator, .steps = options_.steps, .spacing = options_.spacing},
                [this] { advance(); })
        .x;
  }
  const GuidanceOptions guidance{.steps = options_.steps, .spacing = options_.spacing, .zeta = options_.zeta, .eta = 0};
  const auto z = guided_sample(model_, noise(batch), batch.known, guidance, name(), [this] { advance(); });
  return options_.hard ? batch.known.mixed(z) : z;
}

}  // namespace piddm
