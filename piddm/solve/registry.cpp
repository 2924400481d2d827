#include "piddm/solve/method.h"
#include "piddm/solve/piddm.h"
#include "piddm/solve/teacher.h"

namespace piddm {

namespace {

template <class M, class Options>
MethodPtr make(const Model& model, const json& options) {
  Options parsed;
  read_fields(options, parsed, "method");
  return std::make_unique<M>(model, parsed);
}

}  // namespace

const Registry<MethodPtr(const Model&, const json&)>& method_registry() {
  static const Registry<MethodPtr(const Model&, const json&)> registry(
      "method", {
                    {"teacher", "the diffusion model itself: Euler integration of its velocity",
                     make<TeacherMethod, TeacherOptions>},
                    {"piddm", "the one-step student: one evaluation, latent refinement, latent optimisation for tasks",
                     make<PiddmMethod, PiddmOptions>},
                });
  return registry;
}

std::string default_method(const Model& model) { return model.kind == ModelKind::teacher ? "teacher" : "piddm"; }

}  // namespace piddm
