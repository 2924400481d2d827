#include "cli/command.h"
#include "piddm/experiment/run_origin.h"
#include "piddm/experiment/train_posterior.h"
#include "piddm/model/network_registry.h"

namespace piddm::cli {

namespace {

struct TrainArguments {
  std::string preset, out, data;
  std::vector<std::string> settings;
  bool resume = false, keys = false, seeded = false;
};

Experiment experiment_of(const Context& context, const TrainArguments& o) {
  require<UsageError>(!o.preset.empty() || RunFolder::exists(o.out),
                      "{}: no run here to continue; name a preset to begin one", o.out);
  auto experiment = o.preset.empty() ? parse_experiment(RunFolder::read_config(o.out), FormerKeys::accept)
                                     : load_experiment(o.preset, {});
  if (!o.data.empty()) experiment.data.path = o.data;
  if (o.seeded) experiment.seed = context.seed;
  return with_settings(experiment, o.settings);
}

void train(const Context& context, const TrainArguments& o) {
  if (o.keys) {
    context.print(write_fields(Experiment{}),
                  describe_fields<Experiment>() + describe_objectives("distill") + describe_networks("model"));
    return;
  }
  require<UsageError>(!o.preset.empty() || o.resume, "name a preset (`piddm list presets`) or a .toml file");
  require<UsageError>(!o.out.empty(), "--out is required: the run folder");
  const auto experiment = experiment_of(context, o);
  check_output(o.out, {});
  require<UsageError>(o.resume || !RunFolder::exists(o.out),
                      "{} already holds a run: continue it with --resume or choose another --out",
                      o.out);  // before data are generated
  if (o.resume) check_continued(o.out, experiment);
  check_training_memory(experiment, context.device());
  const auto model = train_experiment(experiment, training_data(experiment), o.out, context.device(), o.resume);
  context.print({{"run", o.out}, {"model", o.out + "/model"}, {"provenance", model.provenance}},
                fmt::format("{2}: {0}/model    curves: {0}/{1}", o.out, picture_name("curves"),
                            enum_names(model.kind).at(static_cast<size_t>(model.kind))));
}

}  // namespace

void add_train(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "train", "Train a teacher (flow matching on joint fields x = (u, a)) or a posterior");
  auto o = std::make_shared<TrainArguments>();
  command->add_option("preset", o->preset, "preset (see `piddm list presets`) or FILE.toml");
  command->add_option("--out", o->out, "run folder");
  command->add_option("--data", o->data, "training data file; default: generated as the config says");
  command->add_option("--set", o->settings, "key=value on top of the preset, e.g. train.steps=500 (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--resume", o->resume, "continue the run in --out, or start it if there is none");
  command->add_flag("--keys", o->keys, "print every key with default and meaning");
  add_picture_options(*command, context);
  command->callback([&context, o, command] {
    o->seeded = command->count("--seed") > 0;
    context.run = [&context, o] { train(context, *o); };
  });
}

}  // namespace piddm::cli
