#include "piddm/solve/methods/registry.h"

#include "piddm/solve/methods/classical.h"
#include "piddm/solve/methods/cocogen.h"
#include "piddm/solve/methods/dflow.h"
#include "piddm/solve/methods/diffusionpde.h"
#include "piddm/solve/methods/direct.h"
#include "piddm/solve/methods/eci.h"
#include "piddm/solve/methods/pcfm.h"
#include "piddm/solve/methods/piddm.h"
#include "piddm/solve/methods/pidm.h"
#include "piddm/solve/methods/teacher.h"

namespace piddm {

namespace {

using Make = MethodPtr(const Model&, const json&);

template <class M>
std::string refusal_of(Task task, const Pde& pde) {
  if constexpr (requires { M::refusal(task, pde); }) return M::refusal(task, pde);
  return "";
}

// What every method can be told beside its own options.
struct CommonOptions {
  Precision precision;
  template <class V>
  void fields(V&& f) {
    f("precision", precision, "arithmetic of the network on a GPU: fp32, tf32 or bf16; no effect on the CPU");
  }
};

/// Takes the common options out of `options`.
CommonOptions take_common(json& options, CommonOptions common) {
  const auto found = options.find("precision");
  if (found == options.end()) return common;
  read_fields({{"precision", *found}}, common, "method");
  options.erase(found);
  return common;
}

// M has a constructor (model, options) and may have `static std::string refusal(Task, const Pde&)`: why it cannot do
// that, "" where it can.
template <class M, class Options>
MethodCard card(const std::string& name, std::optional<ModelKind> needs, const std::string& summary,
                Precision precision = Precision::fp32) {
  const CommonOptions common{precision};
  return {name,
          summary,
          needs,
          refusal_of<M>,
          describe_fields<Options>() + describe_fields(common),
          [common, name](json options) {
            take_common(options, common);
            Options parsed;
            read_fields(options, parsed, name);
          },
          [common](const Model& model, json options) -> MethodPtr {
            if (model.network) model.network->set_precision(take_common(options, common).precision);
            Options parsed;
            read_fields(options, parsed, "method");
            return std::make_unique<M>(model, parsed);
          }};
}

Registry<Make> registry_of(const std::vector<MethodCard>& cards) {
  std::vector<Registry<Make>::Entry> entries;
  for (const auto& c : cards) entries.push_back({c.name, c.summary, c.make});
  return {"method", entries};
}

}  // namespace

const std::vector<MethodCard>& method_cards() {
  constexpr auto kTeacher = ModelKind::teacher, kStudent = ModelKind::student;
  static const std::vector<MethodCard> cards = {
      card<TeacherMethod, TeacherOptions>(
          "teacher", kTeacher, "the diffusion model itself; tasks by posterior sampling (DPS)", Precision::bf16),
      card<PiddmMethod, PiddmOptions>(
          "piddm", kStudent, "the one-step student: one evaluation, latent refinement, latent optimisation for tasks"),
      card<EciMethod, EciOptions>("eci", kTeacher, "hard constraints imposed on the clean estimate at each step",
                                  Precision::bf16),
      card<DiffusionPdeMethod, DiffusionPdeOptions>(
          "diffusionpde", kTeacher, "each step guided by the residual and misfit of the clean estimate"),
      card<CocogenMethod, CocogenOptions>("cocogen", kTeacher,
                                          "residual corrections of u in the last steps and after them"),
      card<DflowMethod, DflowOptions>("dflow", kTeacher, "the noise optimised through the whole trajectory"),
      card<PidmMethod, PidmMethodOptions>(
          "pidm", kTeacher, "a diffusion model trained with the residual of its clean estimate; tasks by DPS",
          Precision::bf16),
      card<PcfmMethod, PcfmOptions>("pcfm", kTeacher,
                                    "the clean estimate projected on equation and observations at each step"),
      card<DirectMethod, DirectOptions>("direct", {}, "no network: the field itself optimised on misfit and residual"),
      card<ClassicalMethod, ClassicalOptions>(
          "classical", {}, "no network: solvers, exact Gaussian conditioning (poisson, helmholtz), inversion (darcy)"),
  };
  return cards;
}

const MethodCard& method_card(const std::string& name) {
  for (const auto& c : method_cards())
    if (c.name == name) return c;
  throw UsageError("{}", unknown_name_message("method", name, method_registry().names()));
}

const Registry<Make>& method_registry() {
  static const auto registry = registry_of(method_cards());
  return registry;
}

MethodPtr make_method(const std::string& name, Task task, const Model& model, const json& options) {
  const auto& c = method_card(name);
  if (c.needs) require_kind(model, *c.needs, name);
  const auto reason = c.refusal(task, *model.pde);
  require<UsageError>(reason.empty(), "[{}] {} on {}: {}", name, task_name(task), model.pde->name(), reason);
  return c.make(model, options);
}

std::string default_method(const Model& model) { return model.kind == ModelKind::teacher ? "teacher" : "piddm"; }

}  // namespace piddm
