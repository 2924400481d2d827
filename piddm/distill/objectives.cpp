#include "piddm/distill/objectives.h"

#include <cmath>
#include <set>

#include "piddm/distill/regression.h"
#include "piddm/model/network_registry.h"
#include "piddm/model/parameters.h"

namespace piddm {

namespace {

const DmdOptions& dmd_options(const DistillOptions& o) { return std::get<DmdOptions>(o.own); }

std::unique_ptr<StudentObjective> make_regression(const DistillSetup& s) {
  return std::make_unique<Regression>(s.student, s.model, s.pairs, s.options.loss, s.options.train.batch, s.seed);
}

std::unique_ptr<StudentObjective> make_dmd(const DistillSetup& s) {
  return std::make_unique<Dmd>(s.student, s.model, s.teacher, clone_model(s.teacher).network, s.pairs, s.options.loss,
                               dmd_options(s.options), s.options.train.batch, s.seed);
}

std::unique_ptr<StudentObjective> make_consistency(const DistillSetup& s) {
  return std::make_unique<Consistency>(s.student, s.model, s.teacher, clone_model(s.model).network, s.pairs,
                                       s.options.loss, std::get<ConsistencyOptions>(s.options.own),
                                       s.options.train.batch, s.seed);
}

StepCost cost_of_regression(const DistillOptions& o) { return {.gradient = 1 + (o.loss.physics() ? o.loss.fresh : 0)}; }

/// Student; after the warm-up teacher and critic look at its samples; each step of the critic takes new ones.
StepCost cost_of_dmd(const DistillOptions& o) {
  const auto& dmd = dmd_options(o);
  const auto critic = static_cast<double>(dmd.critic_steps);
  const double matched = 1 - static_cast<double>(dmd.warm_up) / static_cast<double>(o.train.steps);
  return {.forward = 2 * matched + critic, .gradient = 1 + (dmd.regression > 0 ? matched : 0) + critic};
}

/// Student on two batches; for each two evaluations of the teacher and one of the target.
StepCost cost_of_consistency(const DistillOptions&) { return {.forward = 6, .gradient = 2}; }

int64_t all_steps(const DistillOptions& o) { return o.train.steps; }
int64_t steps_of_dmd(const DistillOptions& o) {
  return dmd_options(o).regression > 0 ? o.train.steps : dmd_options(o).warm_up;
}

void check_dmd(const DistillOptions& o) {
  const int64_t warm_up = dmd_options(o).warm_up;
  require<UsageError>(
      warm_up < o.train.steps,
      "distill.{}.warm_up: {} steps on pairs alone leave none of distill.train.steps = {} to match laws",
      objective_card(o.objective).section, warm_up, o.train.steps);
}

NetworkPtr own_network(const DistillOptions& options, int64_t channels, uint64_t seed) {
  try {
    return network_from(options.model, channels, seed);
  } catch (const UsageError& error) {
    throw UsageError("distill.model: {}", error.what());
  }
}

/// One sample through network and heads.
void try_out(const Model& model) {
  const torch::NoGradGuard no_grad;
  Student student(model);
  student(torch::zeros(model.pde->sample_shape(), model.device()).unsqueeze(0));
}

template <class F>
void visit_section(ObjectiveOptions& options, F&& visit) {
  std::visit(
      [&](auto& o) {
        if constexpr (detail::HasFields<std::remove_reference_t<decltype(o)>>) visit(o);
      },
      options);
}

}  // namespace

const std::vector<ObjectiveCard>& objective_cards() {
  static const std::vector<ObjectiveCard> cards = {
      {.name = "regression",
       .summary = "regression on the teacher's noise-data pairs",
       .make = make_regression,
       .step_cost = cost_of_regression,
       .steps_with_pairs = all_steps},
      {.name = "reflow",
       .summary = "regression on the pairs of the teacher after one round of reflow",
       .section = "reflow",
       .usual = ReflowOptions{},
       .rounds = 1,
       .make = make_regression,
       .step_cost = cost_of_regression,
       .steps_with_pairs = all_steps},
      {.name = "reflow2",
       .summary = "regression on the pairs of the teacher after two rounds of reflow",
       .section = "reflow",
       .usual = ReflowOptions{},
       .rounds = 2,
       .make = make_regression,
       .step_cost = cost_of_regression,
       .steps_with_pairs = all_steps},
      {.name = "dmd",
       .summary = "distribution matching with a critic, and regression",
       .section = "dmd",
       .usual = DmdOptions{},
       .make = make_dmd,
       .step_cost = cost_of_dmd,
       .steps_with_pairs = steps_of_dmd,
       .check = check_dmd},
      {.name = "dmd2",
       .summary = "distribution matching with a critic at a faster time scale",
       .section = "dmd2",
       .usual = DmdOptions{.critic_steps = 5, .regression = 0, .warm_up = 500},
       .make = make_dmd,
       .step_cost = cost_of_dmd,
       .steps_with_pairs = steps_of_dmd,
       .check = check_dmd},
      {.name = "consistency",
       .summary = "consistency along the teacher's trajectories",
       .section = "consistency",
       .usual = ConsistencyOptions{},
       .keeps_process = true,
       .make = make_consistency,
       .step_cost = cost_of_consistency,
       .steps_with_pairs = all_steps},
  };
  return cards;
}

const ObjectiveCard& objective_card(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& card : objective_cards()) {
    if (card.name == name) return card;
    names.push_back(card.name);
  }
  throw UsageError("{}", unknown_name_message("objective", name, names));
}

std::unique_ptr<Objective> make_objective(const DistillSetup& s) {
  auto objective = objective_card(s.options.objective).make(s);
  const auto& adversary = s.options.loss.adversary;
  if (adversary.weight == 0) return objective;
  require<UsageError>(s.data.defined() && s.data.size(0) > 0,
                      "distill.loss.adversary: needs true data to compare with");
  const auto first = std::llround(adversary.from * static_cast<double>(s.options.train.steps));
  objective->oppose(std::make_unique<Adversary>(s.data, adversary, first, s.options.train.steps, s.seed));
  return objective;
}

std::string describe_objectives(const std::string& prefix) {
  std::string text;
  std::set<std::string> told;
  for (const auto& card : objective_cards()) {
    auto usual = card.usual;
    if (!told.insert(card.section).second) continue;
    visit_section(usual, [&](const auto& options) {
      const auto section = prefix + "." + card.section;
      text += fmt::format("\n# {}: {}\n{}", section, card.summary, describe_fields(options, section));
    });
  }
  return text;
}

void DistillOptions::choose(const std::string& name) {
  objective = name;
  own = objective_card(name).usual;
}

json DistillOptions::own_keys(json table, const std::string& path, FormerKeys policy) const {
  std::string name = objective;
  if (const auto given = table.find("objective"); given != table.end())
    detail::read_value(*given, name, detail::join_path(path, "objective"));
  const auto& own_section = objective_card(name).section;
  for (const auto& card : objective_cards()) {
    const auto found = table.find(card.section);
    if (card.section == own_section || found == table.end()) continue;
    auto unused = card.usual;
    visit_section(unused, [&](auto& o) { read_fields(*found, o, detail::join_path(path, card.section), policy); });
    table.erase(found);
  }
  return table;
}

DistillOptions DistillOptions::continued_with(const DistillOptions& later) const {
  auto out = *this;
  out.train = train.continued_with(later.train);
  const auto* rounds = std::get_if<ReflowOptions>(&own);
  const auto* later_rounds = std::get_if<ReflowOptions>(&later.own);
  if (rounds && later_rounds) out.own = rounds->continued_with(*later_rounds);
  return out;
}

void check_distillation(const DistillOptions& options, const Pde& pde) {
  const auto& card = objective_card(options.objective);
  require<UsageError>(options.own.index() == card.usual.index(), "distill.{}: of another objective than {}",
                      card.section, card.name);
  check_bounds(options, "distill");
  check_training(options.train, "distill.train");
  check_loss(options.loss, pde);
  const TrialNetworks trial;  // without drawing its weights
  if (!options.model.empty()) own_network(options, 1, 0);
  if (card.check) card.check(options);
}

Model make_student(const Model& teacher, const DistillOptions& options, uint64_t seed) {
  const bool own = !options.model.empty();
  Model model = own ? teacher : clone_model(teacher);
  model.kind = ModelKind::student;
  model.heads = options.heads;
  if (own) {
    model.network = own_network(options, teacher.pde->num_channels(), seed);
    model.network->to(teacher.device());
    if (!objective_card(options.objective).keeps_process) model.process = linear_process();
  }
  try_out(model);
  return model;
}

}  // namespace piddm
