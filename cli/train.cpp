#include "cli/command.h"
#include "piddm/core/log.h"
#include "piddm/core/toml_text.h"
#include "piddm/experiment/chosen_experiment.h"
#include "piddm/experiment/data_misfit.h"
#include "piddm/experiment/run_origin.h"
#include "piddm/experiment/train_posterior.h"
#include "piddm/model/network_registry.h"

namespace piddm::cli {

namespace {

struct TrainArguments {
  std::string preset, out, data;
  std::vector<std::string> settings;
  bool resume = false, keys = false, seeded = false, dry_run = false;
};

ChosenExperiment experiment_of(const Context& context, const TrainArguments& o) {
  require<UsageError>(!o.preset.empty() || RunFolder::exists(o.out),
                      "{}: no run here to continue; name a preset to begin one", o.out);
  auto settings = o.settings;
  if (o.seeded) settings.insert(settings.begin(), fmt::format("seed={}", context.seed));
  if (!o.preset.empty()) return find_experiment(o.preset, settings, o.data, context.device());
  auto experiment = parse_experiment(RunFolder::read_config(o.out), FormerKeys::accept);
  if (!o.data.empty()) experiment.data.path = o.data;
  return {with_settings(experiment, settings), {}};
}

/// The whole config, and what was chosen of it and why.
void show(const Context& context, const ChosenExperiment& chosen) {
  json reasons = json::object();
  for (const auto& [key, why] : chosen.choices) reasons[key] = why;
  const json config = write_fields(chosen.experiment);
  std::string lines;
  for (const auto& line : chosen.lines()) lines += "# " + line + "\n";
  context.print({{"experiment", config}, {"chosen", reasons}}, lines + to_toml(config));
}

Dataset checked_data(const Experiment& experiment) {
  auto data = training_data(experiment);
  if (experiment.data.path.empty() || !data.description.law.empty()) return data;
  const auto pde = make_pde(experiment.pde);
  check_matches(data, *pde);
  const auto misfit = data_misfit(data, *pde);
  if (!misfit.empty())
    spdlog::warn("{0} does not obey the equation: {1}; `piddm data check {0}` says why", experiment.data.path, misfit);
  return data;
}

void train(const Context& context, const TrainArguments& o) {
  if (o.keys) {
    context.print(write_fields(Experiment{}),
                  describe_fields<Experiment>() + describe_objectives("distill") + describe_networks("model"));
    return;
  }
  require<UsageError>(!o.preset.empty() || o.resume, "name a preset (`piddm list presets`) or a .toml file");
  require<UsageError>(!o.out.empty() || o.dry_run, "--out is required: the run folder");
  const auto chosen = experiment_of(context, o);
  if (o.dry_run) return show(context, chosen);
  const auto& experiment = chosen.experiment;
  for (const auto& line : chosen.lines()) spdlog::info("{}", line);
  check_output(o.out, {});
  require<UsageError>(o.resume || !RunFolder::exists(o.out),
                      "{} already holds a run: continue it with --resume or choose another --out",
                      o.out);  // before data are generated
  if (o.resume) check_continued(o.out, experiment);
  check_training_memory(experiment, context.device());
  const auto model = train_experiment(experiment, checked_data(experiment), o.out, context.device(), o.resume);
  context.print({{"run", o.out}, {"model", o.out + "/model"}, {"provenance", model.provenance}},
                fmt::format("{2}: {0}/model    curves: {0}/{1}", o.out, picture_name("curves"),
                            enum_names(model.kind).at(static_cast<size_t>(model.kind))));
}

}  // namespace

void add_train(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "train", "Train a teacher (flow matching on joint fields x = (u, a)) or a posterior");
  auto o = std::make_shared<TrainArguments>();
  command->add_option("preset", o->preset, "preset (see `piddm list presets`), or FILE.toml: a config, or a PDE");
  command->add_option("--out", o->out, "run folder");
  command->add_option("--data", o->data, "training data file; default: generated as the config says");
  command->add_option("--set", o->settings, "key=value on top of the preset, e.g. train.steps=500 (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--resume", o->resume, "continue the run in --out, or start it if there is none");
  command->add_flag("--dry-run", o->dry_run, "print the whole config, and for a PDE's file what was chosen and why");
  command->add_flag("--keys", o->keys, "print every key with default and meaning");
  add_picture_options(*command, context);
  command->callback([&context, o, command] {
    o->seeded = command->count("--seed") > 0;
    context.run = [&context, o] { train(context, *o); };
  });
}

}  // namespace piddm::cli
