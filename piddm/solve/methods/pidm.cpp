#include "piddm/solve/methods/pidm.h"

namespace piddm {

PidmMethod::PidmMethod(const Model& model, const PidmMethodOptions& options) : TeacherMethod("pidm", model, options) {
  require<UsageError>(
      trained_with_residual(model),
      "[pidm] this model was trained without a residual; train one with --set pidm.lambda=10, or use the "
      "method teacher");
}

bool trained_with_residual(const Model& model) {
  const auto lambda = json::json_pointer("/experiment/pidm/lambda");
  return model.provenance.contains(lambda) && model.provenance.at(lambda).get<double>() > 0;
}

}  // namespace piddm
