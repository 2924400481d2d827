#include "cli/command.h"
#include "piddm/core/config.h"
#include "piddm/core/log.h"
#include "piddm/core/stopwatch.h"
#include "piddm/eval/table.h"
#include "piddm/lab/lab.h"

namespace piddm::cli {

namespace {

struct Options {
  std::string name, scale = "smoke", out = "runs/reproduce";
  std::vector<std::string> settings;
  bool list = false, dry_run = false, seeded = false;
};

void list_experiments(const Context& context) {
  Table table({"experiment", ""}, {Align::left, Align::left});
  json object = json::object();
  for (const auto& entry : lab_registry().entries()) {
    table.add_row({entry.name, entry.summary});
    object[entry.name] = entry.summary;
  }
  context.print(object, table.text());
}

json resolved_options(const Context& context, const Options& o, const std::string& name) {
  json options = lab_registry().at(name)().options(parse_scale(o.scale));
  if (o.seeded) options["seed"] = context.seed;
  for (const auto& setting : o.settings) apply_setting(options, setting);
  return options;
}

void reproduce(const Context& context, const Options& o) {
  if (o.list) return list_experiments(context);
  if (o.name.empty()) throw UsageError("reproduce: name an experiment, or all; see `piddm reproduce --list`");
  const auto names = o.name == "all" ? lab_registry().names() : std::vector<std::string>{o.name};
  json object;
  std::string text;
  for (const auto& name : names) {
    const auto options = resolved_options(context, o, name);
    const auto out = o.out + "/" + name + "-" + o.scale;
    if (o.dry_run) {
      object[name] = {{"out", out}, {"options", options}};
      text += fmt::format("{} into {}\n{}\n\n", name, out, options.dump(2));
      continue;
    }
    check_output(out + "/report.json", {});
    spdlog::info("{}, scale {}, into {}. Interrupt it any time; the same command continues.", name, o.scale, out);
    const Stopwatch watch;
    object[name] = run_lab(name, options, out, context.device());
    text += fmt::format("\n{}\n\n{}\nreport, tables and pictures: {}  ({:.0f} s this time)\n", name,
                        lab_registry().at(name)().format(object[name]), out, watch.seconds());
  }
  context.print(names.size() == 1 ? object.at(names.front()) : object, text);
}

}  // namespace

void add_reproduce(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "reproduce", "The paper's experiments with known answers: figures and theory");
  auto o = std::make_shared<Options>();
  command->add_option("name", o->name, "an experiment, or all");
  command->add_flag("--list", o->list, "what there is");
  command->add_option("--scale", o->scale, "smoke, small or paper")->capture_default_str();
  command->add_option("--out", o->out, "results go to OUT/NAME-SCALE")->capture_default_str();
  command->add_option("--set", o->settings, "key=value on top of the scale's options (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--dry-run", o->dry_run, "print the options and stop");
  command->callback([&context, o, command] {
    o->seeded = command->count("--seed") > 0;
    context.run = [&context, o] { reproduce(context, *o); };
  });
}

}  // namespace piddm::cli
