#include <algorithm>

#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/core/table.h"
#include "piddm/eval/divergence.h"
#include "piddm/eval/evaluation.h"
#include "piddm/eval/metric_registry.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"

namespace piddm::cli {

namespace {

namespace fs = std::filesystem;

struct EvaluateArguments {
  EvaluationOptions work;
  std::vector<std::string> columns;
  std::string out;
  bool intervals = false;
};

constexpr int64_t kMostResamples = 1'000'000;
constexpr const char* kCount = "n";  // the column with the number of samples or cases

bool needs(const std::string& column, MetricNeeds what) {
  const auto* card = find_metric(column);
  return card && card->needs == what;
}

std::vector<std::string> columns_of(const EvaluateArguments& o, const Pde& pde) {
  if (!o.columns.empty()) return o.columns;
  const auto& work = o.work;
  const auto judged = work.task.empty() ? kSamplesJudged : kTasksJudged | (work.ensemble ? kEnsemblesJudged : 0U);
  auto out = default_columns(judged, metric_parts(pde));
  if (!work.classifier) std::erase_if(out, [](const auto& name) { return needs(name, MetricNeeds::classifier); });
  if (work.features.empty()) std::erase_if(out, [](const auto& name) { return needs(name, MetricNeeds::teacher); });
  out.insert(out.begin(), kCount);
  return out;
}

void check_columns(const EvaluateArguments& o, const Pde& pde) {
  std::vector<std::string> names;
  for (const auto& card : metric_cards()) names.push_back(card.name);
  auto known = metric_columns(names, metric_parts(pde));
  known.insert(known.begin(), kCount);
  for (const auto& column : o.columns)
    require<UsageError>(std::find(known.begin(), known.end(), column) != known.end(), "{}",
                        unknown_name_message("column", column, known));
}

std::string cell(const Scores& scores, const std::string& column, bool with_interval) {
  if (column == kCount) return fmt::format("{}", scores.n);
  if (!scores.has(column)) return needs(column, MetricNeeds::poseidon) ? "absent" : "-";
  auto text = score_text(scores, column, !divergence(scores).empty());
  const auto interval = scores.intervals.find(column);
  if (!with_interval || text == kDiverged || interval == scores.intervals.end()) return text;
  return fmt::format("{} [{}, {}]", text, format_number(interval->second.first),
                     format_number(interval->second.second));
}

Table table_of(const EvaluateArguments& o, const Pde& pde, const EvaluationResult& evaluation) {
  const auto columns = columns_of(o, pde);
  std::vector<std::string> header = {"samples"};
  header.insert(header.end(), columns.begin(), columns.end());
  Table table(header);
  const auto add = [&](const std::string& name, const Scores& scores) {
    std::vector<std::string> cells = {name};
    for (const auto& column : columns) cells.push_back(cell(scores, column, o.intervals));
    table.add_row(cells);
  };
  for (const auto& [name, scores] : evaluation.inputs) add(name, scores);
  if (evaluation.floor) add("floor (true data)", *evaluation.floor);
  if (evaluation.ensemble) add(fmt::format("ensemble of {}", evaluation.inputs.size()), *evaluation.ensemble);
  return table;
}

/// The name of the metric that needs this.
std::string metric_with(MetricNeeds what) {
  const auto& cards = metric_cards();
  return std::find_if(cards.begin(), cards.end(), [&](const auto& card) { return card.needs == what; })->name;
}

json report_of(const EvaluationOptions& o, const EvaluationResult& evaluation) {
  json samples = json::object();
  for (const auto& [name, scores] : evaluation.inputs) {
    samples[name] = scores;
    if (const auto why = divergence(scores); !why.empty()) samples[name][kDiverged] = why;
  }
  json report = {{"reference", o.reference}, {"samples", samples}};
  if (evaluation.floor) report.push_back({"floor", *evaluation.floor});
  if (!o.task.empty()) report.push_back({"task", o.task});
  if (evaluation.ensemble) report.push_back({"ensemble", *evaluation.ensemble});
  if (o.task.empty() && o.poseidon.empty())
    report.push_back({"absent", json{{metric_with(MetricNeeds::poseidon), "no Poseidon checkpoint (--poseidon)"}}});
  if (!evaluation.precision.empty()) report.push_back({"precision", evaluation.precision});
  report.push_back({"machine", describe_machine()});
  return report;
}

std::string remarks(const EvaluationOptions& o) {
  std::string text;
  if (o.task.empty() && o.poseidon.empty())
    text += fmt::format("{} is absent: it needs a downloaded Poseidon checkpoint (--poseidon DIR){}\n",
                        metric_with(MetricNeeds::poseidon),
                        o.features.empty() ? "; --features TEACHER gives a stand-in" : "");
  if (!o.features.empty())
    text += fmt::format("{} is no FPD: Frechet distance in the velocity features of {}\n",
                        metric_with(MetricNeeds::teacher), o.features);
  return text;
}

void write_report(const std::string& out, const json& report, const Table& table) {
  const auto extension = fs::path(out).extension();
  if (extension == ".json") return write_json_file(out, {.name = "piddm-evaluation", .version = 2}, report);
  write_file_atomically(out, extension == ".csv" ? table.csv() : table.markdown());
}

void run_evaluate(const Context& context, EvaluateArguments o) {
  auto inputs = o.work.inputs;
  inputs.insert(inputs.end(), {o.work.reference, o.work.model, o.work.observe});
  if (!o.out.empty()) check_output(o.out, {".json", ".csv", ".md"}, inputs);
  check_options(o.work);
  const auto [reference, pde] = load_reference(o.work.reference);
  check_columns(o, *pde);
  o.work.seed = context.seed;
  const auto evaluation = evaluate(o.work, reference, pde, context.device());
  const auto report = report_of(o.work, evaluation);
  const auto table = table_of(o, *pde, evaluation);
  if (!o.out.empty()) write_report(o.out, report, table);
  context.print(report, table.text() + remarks(o.work));
}

void add_task_options(CLI::App& command, EvaluationOptions& o) {
  command.add_option("--task", o.task, "judge answers of `piddm solve` to this task: forward, inverse or reconstruct");
  command.add_option("--observe", o.observe,
                     "with --task: the file that was solved, holding whole samples (same --mask-seed or --seed)");
  command.add_option("--share", o.reveal.share, "as given to solve")->check(number_above(0, 1))->capture_default_str();
  command.add_option("--points", o.reveal.points, "as given to solve")->check(whole_number(0))->capture_default_str();
  command.add_option("--channels", o.reveal.channels, "as given to solve")->delimiter(',');
  command.add_option("--mask-seed", o.mask_seed, "as given to solve; default: --seed")->check(seed_number());
  command.add_flag("--ensemble", o.ensemble, "the inputs are several answers to the same cases: coverage and CRPS");
}

}  // namespace

void add_evaluate(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "evaluate", "Judge samples against held-out true data");
  auto o = std::make_shared<EvaluateArguments>();
  auto& work = o->work;
  command->add_option("inputs", work.inputs, "sample files, or run/model folders to sample from")->required();
  command
      ->add_option("--reference", work.reference,
                   "held-out true data (make them with `piddm data make` and another --first or --seed)")
      ->required();
  command->add_option(
      "--model", work.model,
      "take the normaliser from this model; default: from a model among the inputs, else from the reference");
  command->add_option("--n", work.n, "samples generated from each model")
      ->check(whole_number(2))
      ->capture_default_str();
  command->add_option("--poseidon", work.poseidon, "folder of a downloaded Poseidon checkpoint: adds its distance");
  command->add_option("--features", work.features, "a teacher of ours: adds a stand-in for Poseidon's distance");
  command->add_flag("--classifier", work.classifier,
                    "train a classifier to tell samples from true data: seconds on a GPU, minutes on a CPU");
  command->add_option("--columns", o->columns, "metrics to show (see `piddm list metrics`); the .json has all")
      ->delimiter(',');
  command->add_option("--resamples", work.resamples, "of the bootstrap intervals; 0: none")
      ->check(whole_number(0, kMostResamples))
      ->capture_default_str();
  command->add_flag("--intervals", o->intervals, "show the intervals too");
  add_task_options(*command, work);
  command->add_option("--out", o->out, "also write the result: .json (everything), .csv or .md (the table)");
  command->callback([&context, o] { context.run = [&context, o] { run_evaluate(context, *o); }; });
}

}  // namespace piddm::cli
