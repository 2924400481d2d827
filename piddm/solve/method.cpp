#include "piddm/solve/method.h"

namespace piddm {

void require_kind(const Model& model, ModelKind kind, const std::string& method) {
  if (model.kind == kind) return;
  if (kind == ModelKind::teacher)
    throw UsageError("[{}] this model is a student; take its teacher, or use the method piddm", method);
  throw UsageError("[{}] this model is a teacher; distil it first, or use the method teacher", method);
}

}  // namespace piddm
