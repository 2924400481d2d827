#include "piddm/solve/methods/pidm.h"

namespace piddm {

PidmMethod::PidmMethod(const Model& model, const PidmMethodOptions& options) : TeacherMethod("pidm", model, options) {
  require<UsageError>(
      model.training.residual_lambda > 0,
      "[pidm] this model was trained without a residual; train one with --set pidm.lambda=10, or use the "
      "method teacher");
}

PidmMethodOptions PidmMethod::matched(PidmMethodOptions options) {
  options.steps = compute_share(options.steps, 3, 1);
  return options;
}

}  // namespace piddm
