#include "piddm/tables/compare.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/core/config.h"
#include "piddm/tables/report_files.h"

namespace piddm::cli {

namespace {

struct CompareArguments {
  std::string teacher, student, pidm, out = "runs/compare";
  std::vector<std::string> settings;
  std::optional<uint64_t> mask_seed;
  bool matched = false, seeded = false;
};

void compare(const Context& context, const CompareArguments& o) {
  json config = write_fields(CompareOptions{});
  if (o.seeded) config["seed"] = context.seed;
  if (o.mask_seed) config["mask_seed"] = *o.mask_seed;
  config["matched"] = o.matched;
  for (const auto& setting : o.settings) apply_setting(config, setting);
  CompareOptions options;
  read_fields(config, options);
  check_output(o.out + "/report.json", {});
  const auto report = run_compare({o.teacher, o.student, o.pidm}, options, o.out, context.device());
  context.print(to_json(report), format_report(report) +
                                     fmt::format("\nreport: {0}/table.md, table.csv, table.tex, report.json\n", o.out));
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "compare", "Every method on every task with the same models: one table");
  auto o = std::make_shared<CompareArguments>();
  command->add_option("--teacher", o->teacher, "run or model folder of a teacher");
  command->add_option("--student", o->student, "run or model folder of its student");
  command->add_option("--pidm", o->pidm, "run or model folder of a teacher trained with pidm.lambda > 0");
  command
      ->add_option("--mask-seed", o->mask_seed, "seed of what tasks reveal, apart from that of starts; default: --seed")
      ->check(seed_number());
  command->add_flag("--matched", o->matched, "the paper's compute-matched settings");
  command
      ->add_option("--set", o->settings,
                   "key=value, e.g. cases=8, methods=[\"eci\",\"piddm\"] or settings.dflow.steps=20 (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--out", o->out, "folder for the table and for what is already done")->capture_default_str();
  command->callback([&context, o, command] {
    o->seeded = command->count("--seed") > 0;
    context.run = [&context, o] { compare(context, *o); };
  });
}

}  // namespace piddm::cli
