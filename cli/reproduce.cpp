#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/core/config.h"
#include "piddm/core/log.h"
#include "piddm/core/stopwatch.h"
#include "piddm/core/table.h"
#include "piddm/files/atomic_file.h"
#include "piddm/lab/lab.h"
#include "piddm/pde/pde_file.h"
#include "piddm/recipe/cost.h"
#include "piddm/tables/merge.h"
#include "piddm/tables/report_files.h"
#include "piddm/tables/run.h"

namespace piddm::cli {

namespace {

namespace fs = std::filesystem;

struct ReproduceArguments {
  std::string name, scale = "smoke", out = "runs/reproduce", poseidon;
  std::vector<std::string> settings, merge, pdes, rows;
  std::optional<uint64_t> mask_seed;
  bool list = false, dry_run = false, so_far = false, seeded = false;
};

bool is_table(const std::string& name) {
  for (const auto& entry : table_registry().entries())
    if (entry.name == name) return true;
  return false;
}

/// Tables and figures of the models, then the laboratory.
std::vector<std::pair<std::string, std::string>> experiments() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& entry : table_registry().entries()) out.emplace_back(entry.name, entry.summary);
  for (const auto& entry : lab_registry().entries()) out.emplace_back(entry.name, entry.summary);
  return out;
}

std::vector<std::string> chosen_names(const std::string& name) {
  std::vector<std::string> all;
  for (const auto& [known, summary] : experiments()) all.push_back(known);
  if (name == "all") return all;
  if (std::find(all.begin(), all.end(), name) == all.end())
    throw UsageError("{}", unknown_name_message("experiment", name, all));
  return {name};
}

void list_experiments(const Context& context) {
  Table table({"experiment", ""}, {Align::left, Align::left});
  json object = json::object();
  for (const auto& [name, summary] : experiments()) {
    table.add_row({name, summary});
    object[name] = summary;
  }
  context.print(object, table.text());
}

json resolved_options(const Context& context, const ReproduceArguments& o, const std::string& name) {
  const auto scale = parse_scale(o.scale);
  const bool table = is_table(name);
  json options = table ? write_fields(table_options(scale)) : lab_registry().at(name)().options(scale);
  if (o.seeded && table) options["seeds"] = {context.seed};
  if (o.seeded && !table) options["seed"] = context.seed;
  if (o.mask_seed && table) options["mask_seed"] = *o.mask_seed;
  if (!o.poseidon.empty() && table) options["judge"]["poseidon"] = o.poseidon;
  for (const auto& pde : o.pdes)
    require<UsageError>(!names_file(pde),
                        "--pdes {}: the paper's tables are of the paper's PDEs; one of your own is "
                        "judged by `piddm demo --pde FILE` and `piddm compare`",
                        pde);
  if (!o.pdes.empty() && table) options["pdes"] = o.pdes;
  if (!o.rows.empty() && table) options["settings"] = o.rows;
  for (const auto& setting : o.settings) apply_setting(options, setting);
  return options;
}

TableOptions table_options_of(const json& options) {
  TableOptions out;
  read_fields(options, out);
  return out;
}

/// A UsageError before the first of several experiments begins.
void check_options(const Context& context, const ReproduceArguments& o, const std::string& name) {
  const auto options = resolved_options(context, o, name);
  if (is_table(name))
    table_options_of(options);
  else
    lab_registry().at(name)().check(options);
}

fs::path folder_of(const ReproduceArguments& o, const std::string& name) {
  return fs::path(o.out) / (name + "-" + o.scale);
}

/// {text, json} of what an experiment would do.
std::pair<std::string, json> plan(const Context& context, const ReproduceArguments& o, const std::string& name) {
  const auto options = resolved_options(context, o, name);
  const auto out = folder_of(o, name);
  json object = {{"out", out.string()}, {"options", options}};
  if (!is_table(name)) return {fmt::format("{} into {}\n{}\n\n", name, out.string(), options.dump(2)), object};
  const auto table = table_options_of(options);
  const auto steps = plan_table(name, table, o.out, context.device());
  object["steps"] = json::array();
  for (const auto& step : steps)
    object["steps"].push_back({{"name", step.name}, {"key", step.key}, {"done", step.done}, {"seconds", step.seconds}});
  int64_t bytes = 0;
  for (const auto& entry : table_registry().at(name)().entries(table))
    bytes = std::max(bytes, expected_bytes(entry.experiment));
  object["bytes"] = bytes;
  return {fmt::format("{} into {}, about {:.1f} GiB for the largest batch\n{}\n", name, out.string(),
                      static_cast<double>(bytes) / (1 << 30), format_plan(steps)),
          object};
}

/// Days of work on a CPU are better announced than begun.
void warn_without_gpu(const Context& context, const ReproduceArguments& o, const std::string& name) {
  if (o.scale != "paper" || context.device().is_cuda() || !is_table(name)) return;
  double seconds = 0;
  for (const auto& step :
       plan_table(name, table_options_of(resolved_options(context, o, name)), o.out, context.device()))
    if (!step.done) seconds += step.seconds;
  spdlog::warn(
      "{} at the paper's scale without a GPU takes about {} on this machine; --scale smoke shows the same in minutes, "
      "--set experiment.train.steps=... and samples=... make it smaller",
      name, format_duration(seconds));
}

std::pair<std::string, json> run(const Context& context, const ReproduceArguments& o, const std::string& name) {
  const auto options = resolved_options(context, o, name);
  const auto out = folder_of(o, name);
  check_output((out / "report.json").string(), {});
  warn_without_gpu(context, o, name);
  spdlog::info("{}, scale {}, into {}. Interrupt it any time; the same command continues.", name, o.scale,
               out.string());
  const Stopwatch watch;
  std::string text;
  json object;
  if (is_table(name)) {
    const auto report =
        run_table(name, table_options_of(options), o.out, out, context.device(), Recipe::Mode::run, o.scale);
    text = format_report(report), object = to_json(report);
  } else {
    object = run_lab(name, options, out, context.device());
    text = lab_registry().at(name)().format(object);
  }
  return {fmt::format("\n{}\n\n{}\nreport, tables and pictures: {}  ({:.0f} s this time)\n", name, text, out.string(),
                      watch.seconds()),
          object};
}

/// The rows that are finished.
std::pair<std::string, json> so_far(const Context& context, const ReproduceArguments& o, const std::string& name) {
  require<UsageError>(is_table(name), "--so-far: '{}' is not a table", name);
  const auto out = folder_of(o, name);
  const auto options = table_options_of(resolved_options(context, o, name));
  const auto report = run_table(name, options, o.out, out, context.device(), Recipe::Mode::look, o.scale);
  return {fmt::format("\n{}\n\n{}\n{} of {} rows are finished: {}\n", name, format_report(report), report.rows.size(),
                      report.entries.value_or(0), out.string()),
          to_json(report)};
}

/// The table of reports that were made elsewhere.
std::pair<std::string, json> merge(const ReproduceArguments& o) {
  require<UsageError>(is_table(o.name), "--merge: '{}' is not a table", o.name);
  require<UsageError>(o.settings.empty() && o.pdes.empty() && o.rows.empty() && !o.dry_run && !o.so_far,
                      "--merge computes nothing: --set, --pdes, --settings, --dry-run and --so-far do not go with it");
  parse_scale(o.scale);
  std::vector<Report> reports;
  for (const auto& file : o.merge) {
    reports.push_back(read_report_file(file));
    require<DataError>(reports.back().experiment == o.name, "{}: not a report of {}", file, o.name);
  }
  const auto report = merge_reports(reports);
  require<UsageError>(report.scale.empty() || report.scale == o.scale,
                      "--merge: the reports are of scale {0}; add --scale {0}", report.scale);
  const auto out = folder_of(o, o.name);
  check_output((out / "report.json").string(), {});
  write_report(report, out);
  return {format_report(report) + fmt::format("\nreport and tables: {}\n", out.string()), to_json(report)};
}

/// One page of everything that is finished at this scale.
void write_page(const ReproduceArguments& o) {
  std::vector<ReportSection> sections;
  for (const auto& [name, summary] : experiments()) {
    const auto folder = folder_of(o, name);
    if (!fs::exists(folder / "report.json")) continue;
    if (is_table(name)) {
      sections.push_back(report_section(*read_report(folder), folder));
      continue;
    }
    const auto report = read_lab_report(folder);
    ReportSection section{
        .id = name, .title = fmt::format("{} ({})", name, summary), .details = report.value("options", json::object())};
    section.pictures = pictures_in(folder);
    sections.push_back(section);
  }
  write_file_atomically(fs::path(o.out) / fmt::format("report-{}.html", o.scale),
                        html_report(fmt::format("piddm: tables and figures, scale {}", o.scale), sections));
}

void reproduce(const Context& context, const ReproduceArguments& o) {
  if (o.list) return list_experiments(context);
  if (o.name.empty()) throw UsageError("reproduce: name an experiment, or all; see `piddm reproduce --list`");
  const auto names = chosen_names(o.name);
  if (!o.merge.empty()) {
    const auto [text, report] = merge(o);
    write_page(o);
    return context.print(report, text);
  }
  for (const auto& name : names) check_options(context, o, name);
  json object;
  std::string text;
  for (const auto& name : names) {
    const auto [part, report] = o.dry_run  ? plan(context, o, name)
                                : o.so_far ? so_far(context, o, name)
                                           : run(context, o, name);
    text += part;
    object[name] = report;
    if (!o.dry_run) write_page(o);
  }
  if (!o.dry_run) text += fmt::format("page of everything at this scale: {}/report-{}.html\n", o.out, o.scale);
  context.print(names.size() == 1 ? object.at(names.front()) : object, text);
}

}  // namespace

void add_reproduce(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "reproduce", "The paper's tables and figures, from nothing, ours beside the paper's");
  auto o = std::make_shared<ReproduceArguments>();
  command->add_option("name", o->name, "a table or figure, or all");
  command->add_flag("--list", o->list, "what there is");
  command->add_option("--scale", o->scale, "smoke, small or paper")->capture_default_str();
  command->add_option("--out", o->out, "results go to OUT/NAME-SCALE, what they are made of to OUT/steps")
      ->capture_default_str();
  command->add_option("--pdes", o->pdes, "which PDEs of a table, as --set pdes=[...]");
  command->add_option("--settings", o->rows, "which settings (rows) of a table, as --set settings=[...]");
  command->add_option("--set", o->settings, "key=value on top of the scale's options (repeatable)")
      ->allow_extra_args(false);
  command
      ->add_option("--mask-seed", o->mask_seed, "seed of what tasks reveal, apart from that of starts; default: --seed")
      ->check(seed_number());
  command->add_option("--poseidon", o->poseidon, "folder of a downloaded Poseidon checkpoint: adds fpd");
  command->add_option("--merge", o->merge,
                      "make the table from these report.json files, later ones win; computes nothing");
  command->add_flag("--so-far", o->so_far,
                    "make the table from the steps that are finished, e.g. of an interrupted run; computes nothing");
  command->add_flag("--dry-run", o->dry_run,
                    "print what would be done, how long it may take, and what is there already");
  add_picture_options(*command, context);
  command->callback([&context, o, command] {
    o->seeded = command->count("--seed") > 0;
    context.run = [&context, o] { reproduce(context, *o); };
  });
}

}  // namespace piddm::cli
