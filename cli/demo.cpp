#include "piddm/tables/demo/demo.h"
#include "cli/command.h"
#include "piddm/core/config.h"
#include "piddm/core/log.h"
#include "piddm/core/stopwatch.h"
#include "piddm/experiment/chosen_experiment.h"
#include "piddm/pde/pde_file.h"

namespace piddm::cli {

namespace {

struct DemoArguments {
  std::string pde = PdeOptions{}.name, out;
  GridSize grid = 0;
  std::vector<std::string> settings;
  bool seeded = false;
};

std::string next_steps(const DemoReport& report, const std::string& out, double seconds) {
  return fmt::format(
      "report:   {0}/report.md, report.json    pictures: {0}/{2}, {3}, {4}    ({1:.0f} s this time)\n"
      "models:   {0}/teacher, {0}/student\n"
      "go on:    piddm generate {0}/student --n 16 --decode --out samples.npz && piddm plot samples.npz\n"
      "          {5}    (makes the ensemble again)\n"
      "          piddm solve {0}/student --sensors FILE --ensemble 64 --out found.npz    (docs/tasks.md)\n"
      "          piddm demo --pde NAME    (piddm list pdes)\n",
      out, seconds, picture_name("samples"), picture_name("tasks"), picture_name("ensemble"),
      ensemble_command(report.ensemble, out));
}

/// The experiment that the demo begins with: the PDE's preset, or what is chosen for the PDE of a file.
json experiment_of(const Context& context, const DemoArguments& o) {
  if (!names_file(o.pde)) return load_config(demo_preset(o.pde));
  const auto pde = make_pde(pde_named(o.pde));
  require<UsageError>(pde->has_law(),
                      "[{}] the demo draws its data, but {} has no law for every coefficient; `piddm train {} --data "
                      "FILE` begins with data of yours",
                      pde->name(), o.pde, o.pde);
  const std::string section = "experiment.";
  std::vector<std::string> settings;
  if (o.grid != GridSize(0)) settings.push_back("pde.grid=" + o.grid.to_json().dump());
  for (const auto& setting : o.settings)
    if (setting.starts_with(section)) settings.push_back(setting.substr(section.size()));
  const auto chosen = find_experiment(o.pde, settings, "", context.device());
  for (const auto& line : chosen.lines()) spdlog::info("{}", line);
  return write_fields(chosen.experiment);
}

std::string output_of(const std::string& pde) {
  if (pde == PdeOptions{}.name) return "runs/demo";
  return "runs/demo-" + (names_file(pde) ? std::filesystem::path(pde).stem().string() : pde);
}

void demo(const Context& context, DemoArguments o) {
  if (o.out.empty()) o.out = output_of(o.pde);
  json config = write_fields(DemoOptions{});
  config["experiment"] = experiment_of(context, o);
  if (o.grid != GridSize(0)) config["experiment"]["pde"]["grid"] = o.grid.to_json();
  if (o.seeded) config["experiment"]["seed"] = context.seed;
  for (const auto& setting : o.settings) apply_setting(config, setting);
  config["experiment"]["pde"] = resolved_pde(config["experiment"]["pde"]);
  DemoOptions options;
  read_fields(config, options);
  check_output(o.out + "/report.json", {});
  spdlog::info(
      "{} from nothing: data, teacher, distillation, PIDDM student, tasks. Interrupt it any time; the same command "
      "continues.",
      o.pde);
  const Stopwatch watch;
  const auto report = run_demo(options, o.out, context.device());
  context.print(to_json(report), "\n" + format_demo(report) + "\n" + next_steps(report, o.out, watch.seconds()));
}

}  // namespace

void add_demo(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "demo", "The whole pipeline on one PDE in minutes: start here");
  auto o = std::make_shared<DemoArguments>();
  command->add_option("--pde", o->pde, "which PDE: a name of `piddm list pdes`, or FILE.toml with one of your own")
      ->capture_default_str();
  add_grid_option(*command, o->grid, "points per side: 48, or 48x32 along x and y (or t); default: the preset's");
  command->add_option("--out", o->out, "folder for everything the demo makes; default runs/demo, runs/demo-PDE");
  command
      ->add_option("--set", o->settings,
                   "key=value, e.g. cases=16 or experiment.train.steps=500 on top of the preset PDE-32 (repeatable)")
      ->allow_extra_args(false);
  add_picture_options(*command, context);
  command->callback([&context, o, command] {
    o->seeded = command->count("--seed") > 0;
    context.run = [&context, o] { demo(context, *o); };
  });
}

}  // namespace piddm::cli
