#include "piddm/distill/objectives.h"

#include "piddm/distill/regression.h"
#include "piddm/model/network_registry.h"

namespace piddm {

namespace {

std::unique_ptr<Objective> make_regression(const DistillSetup& s) {
  return std::make_unique<Regression>(s.student, s.model, s.pairs, s.options.loss, s.options.train.batch, s.seed);
}

std::unique_ptr<Objective> make_dmd(const DistillSetup& s, const DmdOptions& options) {
  require<UsageError>(
      options.warm_up < s.options.train.steps,
      "distill.{}.warm_up: {} steps on pairs alone leave none of distill.train.steps = {} to match laws",
      s.options.objective, options.warm_up, s.options.train.steps);
  return std::make_unique<Dmd>(s.student, s.model, s.teacher, clone_model(s.teacher).network, s.pairs, s.options.loss,
                               options, s.options.train.batch, s.seed);
}

std::unique_ptr<Objective> make_consistency(const DistillSetup& s) {
  return std::make_unique<Consistency>(s.student, s.model, s.teacher, clone_model(s.model).network, s.pairs,
                                       s.options.loss, s.options.consistency, s.options.train.batch, s.seed);
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
  student(torch::zeros({1, model.pde->num_channels(), model.pde->grid(), model.pde->grid()}, model.device()));
}

}  // namespace

Model make_student(const Model& teacher, const DistillOptions& options, uint64_t seed) {
  const bool own = !options.model.empty();
  Model model = own ? teacher : clone_model(teacher);
  model.kind = ModelKind::student;
  model.heads = options.heads;
  if (own) {
    model.network = own_network(options, teacher.pde->num_channels(), seed);
    model.network->to(teacher.device());
    if (options.objective != "consistency") model.process = process_registry().at("linear")();
  }
  try_out(model);
  return model;
}

void check_student_network(const DistillOptions& options) {
  if (!options.model.empty()) own_network(options, 1, 0);
}

const Registry<std::unique_ptr<Objective>(const DistillSetup&)>& objective_registry() {
  static const Registry<std::unique_ptr<Objective>(const DistillSetup&)> registry(
      "objective",
      {
          {"regression", "regression on the teacher's noise-data pairs", make_regression},
          {"reflow", "regression on the pairs of the teacher after one round of reflow", make_regression},
          {"reflow2", "regression on the pairs of the teacher after two rounds of reflow", make_regression},
          {"dmd", "distribution matching with a critic, and regression",
           [](const DistillSetup& s) { return make_dmd(s, s.options.dmd); }},
          {"dmd2", "distribution matching with a critic at a faster time scale",
           [](const DistillSetup& s) { return make_dmd(s, s.options.dmd2); }},
          {"consistency", "consistency along the teacher's trajectories", make_consistency},
      });
  return registry;
}

int64_t reflow_rounds(const std::string& objective) {
  if (objective == "reflow2") return 2;
  return objective == "reflow" ? 1 : 0;
}

}  // namespace piddm
