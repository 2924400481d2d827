#include "piddm/solve/methods/teacher.h"

#include "piddm/model/flow.h"
#include "piddm/solve/methods/guidance.h"

namespace piddm {

TeacherMethod::TeacherMethod(const std::string& name, const Model& model, const TeacherOptions& options)
    : BatchedMethod(name, model, ModelKind::teacher, options.batch), options_(options) {
  require<UsageError>(options.euler_steps >= 1, "method.euler_steps: must be at least 1, got {}", options.euler_steps);
}

int64_t TeacherMethod::steps(bool observed) const {
  return observed || options_.integrator != IntegratorKind::adaptive ? options_.euler_steps : 1;
}

Tensor TeacherMethod::sample(const Batch& batch) {
  if (!batch.known) {
    const torch::NoGradGuard no_grad;
    return flow(model_, noise(batch), {options_.integrator, options_.euler_steps, options_.tolerance, options_.spacing},
                [this] { advance(); })
        .x;
  }
  const GuidanceOptions guidance{.steps = options_.euler_steps, .zeta = options_.zeta, .spacing = options_.spacing};
  const auto z = guided_sample(model_, noise(batch), batch.known, guidance, name(), [this] { advance(); });
  return options_.hard ? with_known(batch.known, z) : z;
}

}  // namespace piddm
