#include "piddm/recipe/tune.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/core/config.h"
#include "piddm/files/json_file.h"

namespace piddm::cli {

namespace {

struct TuneArguments {
  TuneOptions work;
  std::string student, plain, task = "generate", out;
  std::vector<std::string> teachers, settings;
};

void run_tune(const Context& context, TuneArguments o) {
  require<UsageError>(o.teachers.empty() != o.student.empty(), "tune: name a model, --teacher or --student");
  const auto folders = o.teachers.empty() ? std::vector<std::string>{o.student} : o.teachers;
  check_output(o.out, {".json"}, folders);
  o.work.task = parse_task(o.task);
  o.work.seed = context.seed;
  for (const auto& setting : o.settings) apply_setting(o.work.settings, setting);
  std::vector<TunedModel> models;
  for (const auto& folder : folders) models.push_back({folder, load_model(folder, context.device())});
  const auto plain = o.plain.empty() ? std::nullopt : std::optional(load_model(o.plain, context.device()));
  const auto report = tune(models, o.work, plain);
  const json object = to_json(report);
  write_json_file(o.out, {.name = "piddm-tune", .version = 1}, object);
  context.print(object, format_tune(report) + fmt::format("all tries: {}\n", o.out));
}

}  // namespace

void add_tune(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "tune", "Choose the options of a method on validation samples that no table uses");
  auto o = std::make_shared<TuneArguments>();
  auto& work = o->work;
  command->add_option("method", work.method, "see `piddm list methods`")->required();
  command->add_option("--teacher", o->teachers,
                      "run or model folder of a teacher; several: the method is tuned on each, e.g. pidm on teachers "
                      "of several weights of the residual");
  command->add_option("--plain", o->plain,
                      "generation: run or model folder whose law is to be kept; default: the first model");
  command->add_option("--student", o->student, "run or model folder of a student");
  command->add_option("--task", o->task, "generate, forward, inverse or reconstruct")->capture_default_str();
  command->add_option("--budget", work.budget, "settings to try")->check(whole_number(1))->capture_default_str();
  command->add_option("--samples", work.samples, "samples or cases that judge a try")
      ->check(whole_number(4))
      ->capture_default_str();
  command->add_option("--metric", work.metric, "generation: what is to be small")->capture_default_str();
  command->add_option("--keep", work.keep, "generation: how many times mmse and smse of the plain model are allowed")
      ->check(number_above(0, 1e6))
      ->capture_default_str();
  command->add_option("--set", o->settings, "an option that every try has, e.g. steps=50 (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--out", o->out, "file to write: .json")->required();
  command->callback([&context, o] { context.run = [&context, o] { run_tune(context, *o); }; });
}

}  // namespace piddm::cli
