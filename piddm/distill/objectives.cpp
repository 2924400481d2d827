#include "piddm/distill/objectives.h"

#include "piddm/distill/regression.h"

namespace piddm {

namespace {

std::unique_ptr<Objective> make_regression(const DistillSetup& s) {
  return std::make_unique<Regression>(s.student, s.model, s.pairs, s.options.loss, s.options.train.batch, s.seed);
}

std::unique_ptr<Objective> make_dmd(const DistillSetup& s, const DmdOptions& options) {
  return std::make_unique<Dmd>(s.student, s.model, s.teacher, clone_model(s.teacher).network, s.pairs, s.options.loss,
                               options, s.options.train.batch, s.seed);
}

std::unique_ptr<Objective> make_consistency(const DistillSetup& s) {
  return std::make_unique<Consistency>(s.student, s.model, s.teacher, clone_model(s.model).network, s.pairs,
                                       s.options.loss, s.options.consistency, s.options.train.batch, s.seed);
}

}  // namespace

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
