#include <fmt/ranges.h>

#include "cli/command.h"
#include "piddm/experiment/chosen_experiment.h"
#include "piddm/pde/pde_file.h"

namespace piddm::cli {

namespace {

namespace fs = std::filesystem;

struct DistillArguments {
  std::string teacher, preset, objective, physics, out, pairs, data;
  std::vector<std::string> settings;
  bool resume = false, seeded = false;
};

DistillOptions of_preset(const DistillArguments& o, const Model& teacher) {
  std::vector<std::string> settings;
  if (names_file(o.preset))  // what is chosen for a PDE depends on its grid
    settings = {"pde.grid=" + teacher.pde->grid().to_json().dump()};
  const auto experiment = find_experiment(o.preset, settings, o.data, teacher.device()).experiment;
  require<UsageError>(experiment.pde.name == teacher.pde->name(), "--preset {}: of {}, but the teacher is of {}",
                      o.preset, experiment.pde.name, teacher.pde->name());
  const auto difference = pde_difference(teacher.pde->options(), experiment.pde);
  require<UsageError>(difference.empty(), "--preset {}: not the teacher's PDE: {}", o.preset, difference);
  return experiment.distill;
}

// The teacher's experiment, or that of the run to be continued, with the distillation of a preset, with settings.
Experiment experiment_of(const Context& context, const DistillArguments& o, const Model& teacher) {
  const bool continued = o.resume && RunFolder::exists(o.out);
  auto experiment = parse_experiment(
      continued ? RunFolder::read_config(o.out) : teacher.provenance.value("experiment", json::object()),
      FormerKeys::accept);
  if (!o.preset.empty()) experiment.distill = of_preset(o, teacher);
  experiment.pde = teacher.pde->options();
  if (!o.data.empty()) experiment.data.path = o.data;
  if (o.seeded) experiment.seed = context.seed;
  if (!o.objective.empty() && o.objective != experiment.distill.objective) experiment.distill.choose(o.objective);
  experiment = with_settings(experiment, o.settings);
  auto& loss = experiment.distill.loss;
  if (o.physics == "off") loss.lambda = loss.boundary = loss.error = 0;
  return experiment;
}

void check_physics(const DistillArguments& o, const StudentLossOptions& loss) {
  require<UsageError>(o.physics != "on" || loss.physics(),
                      "--physics on: distill.loss.lambda is 0; give it a weight with --set distill.loss.lambda=10");
}

void distill(const Context& context, const DistillArguments& o) {
  const auto teacher = load_model(o.teacher, context.device());
  const auto experiment = experiment_of(context, o, teacher);
  check_physics(o, experiment.distill.loss);
  check_output(o.out, {});
  const fs::path pairs = o.pairs.empty() ? fs::path(o.out) / "pairs" : fs::path(o.pairs);
  const auto model = distill_student(experiment, teacher, o.out, pairs, o.resume);
  context.print({{"run", o.out}, {"model", o.out + "/model"}, {"provenance", model.provenance}},
                fmt::format("student: {0}/model    curves: {0}/{1}", o.out, picture_name("curves")));
}

}  // namespace

void add_distill(CLI::App& app, Context& context) {
  std::vector<std::string> objectives;
  for (const auto& card : objective_cards()) objectives.push_back(card.name);
  auto* command =
      add_command(app, context, "distill", "Distil a one-step student under the PDE residual of its own samples");
  auto o = std::make_shared<DistillArguments>();
  command->add_option("--teacher", o->teacher, "run or model folder of the teacher")->required();
  command->add_option(
      "--preset", o->preset,
      "take the distillation from this preset or FILE.toml, a config or a PDE; default: the teacher's own");
  command->add_option("--objective", o->objective,
                      fmt::format("how: {}; default: the preset's", fmt::join(objectives, ", ")));
  command
      ->add_option("--physics", o->physics,
                   "on or off: with or without the PDE residual of the student's samples; default: the preset's")
      ->check(CLI::IsMember({"on", "off"}));
  command->add_option("--out", o->out, "run folder")->required();
  command->add_option("--pairs", o->pairs,
                      "folder for the teacher's noise-data pairs, may be shared; default: OUT/pairs");
  command->add_option("--data", o->data,
                      "true samples for distill.loss.adversary; default: what the teacher was trained on");
  command->add_option("--set", o->settings, "key=value, e.g. distill.loss.lambda=1 (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--resume", o->resume, "continue the run in --out, or start it if there is none");
  add_picture_options(*command, context);
  command->callback([&context, o, command] {
    o->seeded = command->count("--seed") > 0;
    context.run = [&context, o] { distill(context, *o); };
  });
}

}  // namespace piddm::cli
