#include "piddm/solve/methods/registry.h"

#include "piddm/solve/methods/amortised.h"
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

template <class M>
std::string refusal_of(Task task, const Pde& pde) {
  if constexpr (requires { M::refusal(task, pde); }) return M::refusal(task, pde);
  return "";
}

template <class M>
std::string draw_refusal_of(Task task, const Pde& pde) {
  if constexpr (requires { M::draw_refusal(task, pde); }) return M::draw_refusal(task, pde);
  return "";
}

template <class M>
std::optional<Suitability> suitability_of(const Problem& problem) {
  if constexpr (requires { M::suits(problem); }) return M::suits(problem);
  return {};
}

template <class M>
json draw_options_of() {
  if constexpr (requires { M::draw_options(); }) return M::draw_options();
  return json::object();
}

template <class M, class Options>
Evaluations evaluations_with(const Options& options, Task task) {
  if constexpr (requires { M::evaluations(options, task); }) return M::evaluations(options, task);
  return {};
}

template <class M>
std::vector<SearchFamily> search_of(const Model& model, Task task) {
  if constexpr (requires { M::search(model, task); }) return M::search(model, task);
  return {};
}

template <class M>
constexpr bool is_own() {
  if constexpr (requires { M::kOwn; }) return M::kOwn;
  return false;
}

template <class M>
constexpr bool is_slow() {
  if constexpr (requires { M::kSlow; }) return M::kSlow;
  return false;
}

/// What every method can be told beside its own options.
struct CommonOptions {
  Precision precision;
  int64_t batch;
  template <class V>
  void fields(V&& f) {
    f("precision", precision, "arithmetic of the network on a GPU: fp32, tf32 or bf16; the CPU has fp32");
    f("batch", batch, count_from(0), "samples at a time, does not change the result; 0: as memory allows");
  }
};

/// Takes the common options out of `options`.
CommonOptions take_common(json& options, CommonOptions common) {
  json taken = json::object();
  common.fields([&](const char* name, const auto&...) {
    const auto found = options.find(name);
    if (found == options.end()) return;
    taken[name] = *found;
    options.erase(found);
  });
  read_fields(taken, common);
  return common;
}

template <class Options>
Options parsed(json given, const CommonOptions& usual, const std::string& path) {
  Options options;
  options.batch = take_common(given, usual).batch;
  read_fields(given, options, path);
  return options;
}

/// `options` with the values in which `after` differs from `before`.
json with_changes(json options, const json& before, const json& after) {
  for (const auto& [key, value] : after.items()) {
    if (value == before.at(key)) continue;
    options[key] = value.is_object() ? with_changes(options.value(key, json::object()), before.at(key), value) : value;
  }
  return options;
}

// M has a constructor (model, options) and may have, all static:
//   std::string refusal(Task, const Pde&)            why it cannot do that, "" where it can
//   std::string draw_refusal(Task, const Pde&)       why an ensemble of its answers would say nothing
//   json draw_options()                              what makes each answer a draw
//   optional<Suitability> suits(const Problem&)      how well it suits a problem, and why
//   Evaluations evaluations(const Options&, Task)    per sample
//   Options matched(Options)                         the paper's compute-matched share
//   Options within(Options, Task, int64_t)           with at most this many evaluations per sample
//   vector<SearchFamily> search(const Model&, Task)  what can be tuned
//   bool kOwn, kSlow                                 as on the card
template <class M, class Options>
MethodCard card(const std::string& name, std::optional<ModelKind> needs, const std::string& summary) {
  const CommonOptions common{Precision::fp32, Options{}.batch};
  const auto matched = [common](const json& options) {
    if constexpr (requires { M::matched(Options{}); }) {
      const auto usual = parsed<Options>(options, common, "");
      return with_changes(options, write_fields(usual), write_fields(M::matched(usual)));
    }
    return options;
  };
  const auto within = [common](const json& options, Task task, int64_t evaluations) -> std::optional<json> {
    if constexpr (requires { M::within(Options{}, task, evaluations); }) {
      const auto usual = parsed<Options>(options, common, "");
      return with_changes(options, write_fields(usual), write_fields(M::within(usual, task, evaluations)));
    }
    return {};
  };
  return {
      .name = name,
      .summary = summary,
      .needs = needs,
      .own = is_own<M>(),
      .slow = is_slow<M>(),
      .refusal = refusal_of<M>,
      .draw_refusal = draw_refusal_of<M>,
      .suits = suitability_of<M>,
      .draw_options = draw_options_of<M>(),
      .options = describe_fields<Options>() + describe_fields(common),
      .check = [common, name](const json& options) { parsed<Options>(options, common, name); },
      .renewed =
          [name](const json& stored) {
            Options options;
            read_fields(stored, options, name, FormerKeys::accept);
            return write_fields(options);
          },
      .evaluations = [common](const json& options,
                              Task task) { return evaluations_with<M>(parsed<Options>(options, common, ""), task); },
      .matched = matched,
      .within = within,
      .search = search_of<M>,
      .make = [common](const Model& model, json options) -> MethodPtr {
        const auto given = parsed<Options>(options, common, "");
        model.network->set_precision(take_common(options, common).precision);
        return std::make_unique<M>(model, given);
      }};
}

}  // namespace

const std::vector<MethodCard>& method_cards() {
  constexpr auto kTeacher = ModelKind::teacher, kStudent = ModelKind::student, kPosterior = ModelKind::posterior;
  static const std::vector<MethodCard> cards = {
      card<TeacherMethod, TeacherOptions>("teacher", kTeacher,
                                          "the diffusion model itself; tasks by posterior sampling (DPS)"),
      card<PiddmMethod, PiddmOptions>(
          "piddm", kStudent, "the one-step student: one evaluation, latent refinement, latent optimisation for tasks"),
      card<AmortisedMethod, AmortisedOptions>(
          "amortised", kPosterior,
          "a posterior in one evaluation: a draw given any observation, or the mean of several"),
      card<EciMethod, EciOptions>("eci", kTeacher, "hard constraints imposed on the clean estimate at each step"),
      card<DiffusionPdeMethod, DiffusionPdeOptions>(
          "diffusionpde", kTeacher, "each step guided by the residual and misfit of the clean estimate"),
      card<CocogenMethod, CocogenOptions>("cocogen", kTeacher,
                                          "residual corrections of u in the last steps and after them"),
      card<DflowMethod, DflowOptions>("dflow", kTeacher, "the noise optimised through the whole trajectory"),
      card<PidmMethod, PidmMethodOptions>(
          "pidm", kTeacher, "a diffusion model trained with the residual of its clean estimate; tasks by DPS"),
      card<PcfmMethod, PcfmOptions>("pcfm", kTeacher,
                                    "the clean estimate projected on equation and observations at each step"),
      card<DirectMethod, DirectOptions>("direct", {}, "no network: the field itself optimised on misfit and residual"),
      card<ClassicalMethod, ClassicalOptions>(
          "classical", {}, "no network: solvers, exact Gaussian conditioning (poisson, helmholtz), inversion (darcy)"),
  };
  return cards;
}

std::vector<std::string> method_names() {
  std::vector<std::string> out;
  for (const auto& c : method_cards()) out.push_back(c.name);
  return out;
}

const MethodCard& method_card(const std::string& name) {
  for (const auto& c : method_cards())
    if (c.name == name) return c;
  throw UsageError("{}", unknown_name_message("method", name, method_names()));
}

MethodPtr make_method(const std::string& name, Task task, const Model& model, const json& options) {
  const auto& c = method_card(name);
  const auto reason = c.refusal(task, *model.pde);
  require<UsageError>(reason.empty(), "[{}] {} on {}: {}", name, task_name(task), model.pde->name(), reason);
  return c.make(model, options);
}

namespace {

bool possible(const MethodCard& card, const Problem& problem) {
  if (card.needs && *card.needs != problem.model.kind) return false;
  if (!card.refusal(problem.task, problem.pde()).empty()) return false;
  return !problem.ensemble || card.draw_refusal(problem.task, problem.pde()).empty();
}

bool takes_options(const MethodCard& card, const json& options) {
  try {
    card.check(options);
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

}  // namespace

std::string own_method(ModelKind kind) {
  for (const auto& c : method_cards())
    if (c.own && c.needs == kind) return c.name;
  throw std::logic_error("no method of its own for a kind of model");
}

std::string default_method(const Model& model) { return own_method(model.kind); }

ChosenMethod choose_method(const Problem& problem, const json& options) {
  const MethodCard *best = nullptr, *barred = nullptr;
  Suitability why, beyond;
  for (const auto& c : method_cards()) {
    if (!possible(c, problem)) continue;
    const auto suits = c.suits(problem);
    if (!suits) continue;
    const bool takes = takes_options(c, options);
    if (takes && (!best || suits->merit > why.merit)) best = &c, why = *suits;
    if (!takes && (!barred || suits->merit > beyond.merit)) barred = &c, beyond = *suits;
  }
  if (!best)
    return {default_method(problem.model), "the method of this kind of model; no other suits the problem better"};
  if (barred && beyond.merit > why.merit)
    why.reason += fmt::format("; `{}`, {}, does not take these options", barred->name, beyond.reason);
  return {best->name, why.reason};
}

json default_options(const std::string& method, const json& solve) {
  const bool suits = method == own_method(ModelKind::student) && !solve.empty();
  return suits ? method_card(method).renewed(solve) : json::object();
}

json default_options(const std::string& method, const Model& model) {
  return default_options(method, model.training.solve);
}

}  // namespace piddm
