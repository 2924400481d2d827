#include <fmt/ranges.h>

#include "cli/command.h"
#include "piddm/core/config.h"
#include "piddm/experiment/experiment.h"

namespace piddm::cli {

namespace {

namespace fs = std::filesystem;

struct DistillArguments {
  std::string teacher, preset, objective, physics, out, pairs;
  std::vector<std::string> settings;
  bool resume = false, seeded = false;
};

void check_preset(const DistillArguments& o, const Model& teacher) {
  if (o.preset.empty()) return;
  const auto pde = load_config(o.preset).value("pde", json::object()).value("name", teacher.pde->name());
  require<UsageError>(pde == teacher.pde->name(), "--preset {}: of {}, but the teacher is of {}", o.preset, pde,
                      teacher.pde->name());
}

// The teacher's experiment, or that of the run to be continued, with the distillation of a preset, with settings.
json config_of(const Context& context, const DistillArguments& o, const Model& teacher) {
  check_preset(o, teacher);
  json config = o.resume && RunFolder::exists(o.out) ? RunFolder::read_config(o.out)
                                                     : teacher.provenance.value("experiment", json::object());
  if (!o.preset.empty()) config["distill"] = load_config(o.preset).value("distill", json::object());
  config["pde"] = write_fields(teacher.pde->options());
  if (o.seeded) config["seed"] = context.seed;
  if (!o.objective.empty()) config["distill"]["objective"] = o.objective;
  for (const auto& setting : o.settings) apply_setting(config, setting);
  if (o.physics == "off")
    for (const char* weight : {"lambda", "boundary", "error"}) config["distill"]["loss"][weight] = 0.0;
  return config;
}

void check_physics(const DistillArguments& o, const StudentLossOptions& loss) {
  require<UsageError>(o.physics != "on" || loss.lambda > 0 || loss.boundary > 0 || loss.error > 0,
                      "--physics on: distill.loss.lambda is 0; give it a weight with --set distill.loss.lambda=10");
}

void distill(const Context& context, const DistillArguments& o) {
  const auto teacher = load_model(o.teacher, context.device());
  const auto experiment = parse_experiment(config_of(context, o, teacher));
  check_physics(o, experiment.distill.loss);
  check_output(o.out, {});
  const fs::path pairs = o.pairs.empty() ? fs::path(o.out) / "pairs" : fs::path(o.pairs);
  const auto model = distill_student(experiment, teacher, o.out, pairs, o.resume);
  context.print({{"run", o.out}, {"model", o.out + "/model"}, {"provenance", model.provenance}},
                fmt::format("student: {0}/model    curves: {0}/curves.png", o.out));
}

}  // namespace

void add_distill(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "distill", "Distil a one-step student under the PDE residual of its own samples");
  auto o = std::make_shared<DistillArguments>();
  command->add_option("--teacher", o->teacher, "run or model folder of the teacher")->required();
  command->add_option("--preset", o->preset,
                      "take the distillation from this preset or .toml file; default: the teacher's own");
  command->add_option("--objective", o->objective,
                      fmt::format("how: {}; default: the preset's", fmt::join(objective_registry().names(), ", ")));
  command
      ->add_option("--physics", o->physics,
                   "on or off: with or without the PDE residual of the student's samples; default: the preset's")
      ->check(CLI::IsMember({"on", "off"}));
  command->add_option("--out", o->out, "run folder")->required();
  command->add_option("--pairs", o->pairs,
                      "folder for the teacher's noise-data pairs, may be shared; default: OUT/pairs");
  command->add_option("--set", o->settings, "key=value, e.g. distill.loss.lambda=1 (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--resume", o->resume, "continue the run in --out, or start it if there is none");
  command->callback([&context, o, command] {
    o->seeded = command->count("--seed") > 0;
    context.run = [&context, o] { distill(context, *o); };
  });
}

}  // namespace piddm::cli
