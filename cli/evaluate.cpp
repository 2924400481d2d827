#include "piddm/eval/evaluate.h"

#include <algorithm>

#include "cli/command.h"
#include "cli/samples.h"
#include "piddm/core/peak_memory.h"
#include "piddm/core/table.h"
#include "piddm/data/dataset.h"
#include "piddm/eval/poseidon/poseidon.h"
#include "piddm/files/atomic_file.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/solve/task/observation_file.h"

namespace piddm::cli {

namespace {

namespace fs = std::filesystem;

struct EvaluateArguments {
  std::vector<std::string> inputs, columns;
  std::string reference, model, out, poseidon, features, task, observe;
  ObserveOptions reveal;
  int64_t n = 1024;
  int resamples = 200;
  bool intervals = false, ensemble = false;
};

/// Samples to be judged, and what is known of their making beyond the work.
struct Entrant {
  std::string name;
  Samples samples;
  json cost = json::object();
};

/// A model of the reference's PDE.
Model model_of(const std::string& folder, const Pde& pde, torch::Device device = torch::kCPU) {
  auto model = load_model(folder, device);
  check_declared({{"pde", model.pde->name()}, {"parameters", model.pde->options().parameters}}, pde, folder + " is");
  return model;
}

// A folder is a model: it generates; a file holds samples, and says what they cost.
Entrant entrant_of(const Context& context, const EvaluateArguments& o, const std::string& input, const Pde& pde) {
  if (!fs::is_directory(input)) {
    const auto data = load_dataset(input);
    check_declared(data.description, pde, input + " is");
    const auto origin = data.description.value("origin", json::object());
    return {input,
            {data.fields, origin.value("nfe", 0.0), origin.value("backward", 0.0),
             origin.value("seconds_per_sample", 0.0)}};
  }
  require<UsageError>(o.task.empty(), "{}: a model; --task judges files that `piddm solve` has written", input);
  const double held = piddm::PeakMemory(context.device()).mib();  // on a GPU, by the judge
  const auto model = model_of(input, pde, context.device());
  const piddm::PeakMemory memory(model.device());
  const auto name = default_method(model);
  const auto method = make_method(name, Task::generate, model, default_options(name, model));
  Entrant entrant{input, method->generate(0, o.n, context.seed)};
  entrant.cost["peak_memory_mib"] = std::max(memory.mib() - held, 0.0);
  if (model.training.seconds > 0) entrant.cost["training_seconds"] = model.training.seconds;
  return entrant;
}

Normalizer normalizer_of(const EvaluateArguments& o, const Dataset& reference, const Pde& pde) {
  for (const auto& candidate : o.inputs)
    if (o.model.empty() && fs::is_directory(candidate)) return model_of(candidate, pde).normalizer;
  if (!o.model.empty()) return model_of(o.model, pde).normalizer;
  return Normalizer::fit(reference.fields, pde.channels());
}

Judge make_judge(const Context& context, const EvaluateArguments& o, const Dataset& reference, const PdePtr& pde) {
  Judge judge(pde, normalizer_of(o, reference, *pde), reference.fields, reference.fields.to(torch::kFloat64).mean(0),
              context.device());
  if (!o.poseidon.empty())
    for (const auto& metric : poseidon_metrics(load_poseidon(o.poseidon, context.device()), *pde)) judge.add(metric);
  if (!o.features.empty()) judge.add(teacher_metric(load_model(o.features, context.device()), *pde));
  return judge;
}

std::vector<std::string> default_columns(const EvaluateArguments& o, const Pde& pde) {
  std::vector<std::string> out = {"n"};
  const auto add = [&](const std::vector<std::string>& names) { out.insert(out.end(), names.begin(), names.end()); };
  if (o.task.empty()) {
    add({"mmse", "smse", "swd", "apdd", "fpd"});
    if (!o.features.empty()) add({"frechet_teacher"});
    add({"pde_error", "rel_residual", "solution_error"});
  } else {
    for (const auto& name : pde.channel_names()) add({"mse_" + name, "rel_l2_" + name});
    if (o.ensemble)
      for (const auto& name : pde.channel_names()) add({"crps_" + name, "coverage_" + name});
    add({"pde_error", "rel_residual", "solution_error", "constraint_error"});
  }
  add({"nfe", "seconds_per_sample"});
  return out;
}

/// Every metric `evaluate` knows for this PDE.
std::vector<std::string> all_columns(const Pde& pde) {
  std::vector<std::string> out = {"n",
                                  "n_reference",
                                  "mmse",
                                  "smse",
                                  "swd",
                                  "apdd",
                                  "fpd",
                                  "frechet_teacher",
                                  "pde_error",
                                  "rel_residual",
                                  "nfe",
                                  "boundary_error",
                                  "backward",
                                  "solution_error",
                                  "members",
                                  "constraint_error",
                                  "misclassified",
                                  "spectrum_error",
                                  "coverage_nominal",
                                  "seconds_per_sample",
                                  "peak_memory_mib",
                                  "training_seconds"};
  for (const char* metric : {"mmse", "smse", "spectrum_error", "fpd", "mse", "rel_l2", "mean_field_mse", "crps",
                             "coverage", "spread", "mean_mse"})
    for (const auto& channel : pde.channel_names()) out.push_back(fmt::format("{}_{}", metric, channel));
  return out;
}

void check_columns(const EvaluateArguments& o, const Pde& pde) {
  const auto known = all_columns(pde);
  for (const auto& column : o.columns)
    require<UsageError>(std::find(known.begin(), known.end(), column) != known.end(), "{}",
                        unknown_name_message("column", column, known));
}

std::string cell(const json& row, const std::string& column, bool with_interval) {
  if (!row.contains(column)) return column == "fpd" ? "absent" : "-";
  const auto value = row.at(column).get<double>();
  if (column == "n") return fmt::format("{}", static_cast<int64_t>(value));
  auto text = format_number(value);
  const auto intervals = row.value("intervals", json::object());
  if (!with_interval || !intervals.contains(column)) return text;
  const auto& ends = intervals.at(column);
  return fmt::format("{} [{}, {}]", text, format_number(ends[0].get<double>()), format_number(ends[1].get<double>()));
}

Table metrics_table(const EvaluateArguments& o, const Pde& pde, const json& rows) {
  const auto columns = o.columns.empty() ? default_columns(o, pde) : o.columns;
  std::vector<std::string> header = {"samples"};
  header.insert(header.end(), columns.begin(), columns.end());
  Table table(header);
  for (const auto& [name, row] : rows.items()) {
    std::vector<std::string> cells = {name};
    for (const auto& column : columns) cells.push_back(cell(row, column, o.intervals));
    table.add_row(cells);
  }
  return table;
}

/// Every entrant's row by name, and the floor.
json judge_samples(const Context& context, const EvaluateArguments& o, const Judge& judge, const Pde& pde,
                   json& report) {
  json rows = json::object();
  int64_t smallest = o.n;
  for (const auto& input : o.inputs) {
    const auto entrant = entrant_of(context, o, input, pde);
    smallest = std::min(smallest, entrant.samples.x.size(0));
    rows[input] = judge.samples(entrant.samples, {o.resamples, context.seed});
    rows[input].update(entrant.cost);
  }
  report["samples"] = rows;
  report["floor"] = judge.floor(smallest, context.seed);
  rows["floor (true data)"] = report["floor"];
  return rows;
}

json judge_task(const Context& context, const EvaluateArguments& o, const Judge& judge, const Pde& pde, json& report) {
  std::vector<Samples> members;
  for (const auto& input : o.inputs) members.push_back(entrant_of(context, o, input, pde).samples);
  const int64_t cases = members.front().x.size(0);
  const auto file = read_observation(o.observe, parse_solve_task(o.task), pde, context.seed, o.reveal, cases);
  require<UsageError>(file.truth.defined(), "{}: does not hold whole samples, so there is no truth to compare with",
                      o.observe);
  json rows = json::object();
  for (size_t i = 0; i < members.size(); ++i) {
    require<DataError>(members[i].x.size(0) == file.truth.size(0), "{}: {} cases, but {} has {}", o.inputs[i],
                       members[i].x.size(0), o.observe, file.truth.size(0));
    rows[o.inputs[i]] = judge.task(members[i], file.truth, file.observation, {o.resamples, context.seed});
  }
  report["samples"] = rows;
  report["task"] = o.task;
  if (!o.ensemble) return rows;
  report["ensemble"] = judge.ensemble(members, file.truth, file.observation, {o.resamples, context.seed});
  rows[fmt::format("ensemble of {}", members.size())] = report["ensemble"];
  return rows;
}

std::string remarks(const EvaluateArguments& o) {
  std::string text;
  if (o.task.empty() && o.poseidon.empty())
    text += fmt::format("fpd is absent: it needs a downloaded Poseidon checkpoint (--poseidon DIR){}\n",
                        o.features.empty() ? "; --features TEACHER gives a stand-in" : "");
  if (!o.features.empty())
    text += fmt::format("frechet_teacher is no FPD: Frechet distance in the velocity features of {}\n", o.features);
  return text;
}

void check_options(const EvaluateArguments& o) {
  auto inputs = o.inputs;
  inputs.insert(inputs.end(), {o.reference, o.model, o.observe});
  if (!o.out.empty()) check_output(o.out, {".json", ".csv", ".md"}, inputs);
  require<UsageError>(o.n >= 2, "--n {}: distances of sets need at least 2 samples", o.n);
  require<UsageError>(o.resamples >= 0, "--resamples must not be negative");
  require<UsageError>(o.task.empty() == o.observe.empty(), "--task and --observe go together");
  require<UsageError>(!o.ensemble || (!o.task.empty() && o.inputs.size() >= 2),
                      "--ensemble: needs --task and at least 2 files of answers to the same cases");
  require<UsageError>(o.task != "generate", "--task generate: leave --task out to judge generated samples");
}

void write_report(const std::string& out, const json& report, const Table& table) {
  const auto extension = fs::path(out).extension();
  write_file_atomically(out, extension == ".csv"  ? table.csv()
                             : extension == ".md" ? table.markdown()
                                                  : report.dump(2) + "\n");
}

void evaluate(const Context& context, const EvaluateArguments& o) {
  check_options(o);
  const auto reference = load_dataset(o.reference);
  require<UsageError>(reference.description.contains("pde"), "{}: does not say which PDE it is of", o.reference);
  const auto pde = pde_of(reference);
  check_columns(o, *pde);
  for (const auto& input : o.inputs)  // before samples are made in vain
    require<DataError>(!fs::is_directory(input) || reference.size() >= 4,
                       "{}: {} true samples; the floor needs at least 4", o.reference, reference.size());
  const auto judge = make_judge(context, o, reference, pde);
  json report = {{"reference", o.reference}};
  const auto rows =
      o.task.empty() ? judge_samples(context, o, judge, *pde, report) : judge_task(context, o, judge, *pde, report);
  if (o.task.empty() && o.poseidon.empty()) report["absent"] = {{"fpd", "no Poseidon checkpoint (--poseidon)"}};
  report["machine"] = describe_machine();
  const auto table = metrics_table(o, *pde, rows);
  if (!o.out.empty()) write_report(o.out, report, table);
  context.print(report, table.text() + remarks(o));
}

void add_task_options(CLI::App& command, EvaluateArguments& o) {
  command.add_option("--task", o.task, "judge answers of `piddm solve` to this task: forward, inverse or reconstruct");
  command.add_option("--observe", o.observe,
                     "with --task: the file that was solved, holding whole samples (same --seed)");
  command.add_option("--share", o.reveal.share, "as given to solve")->capture_default_str();
  command.add_option("--points", o.reveal.points, "as given to solve")->capture_default_str();
  command.add_option("--channels", o.reveal.channels, "as given to solve")->delimiter(',');
  command.add_flag("--ensemble", o.ensemble, "the inputs are several answers to the same cases: coverage and CRPS");
}

}  // namespace

void add_evaluate(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "evaluate", "Judge samples against held-out true data");
  auto o = std::make_shared<EvaluateArguments>();
  command->add_option("inputs", o->inputs, "sample files, or run/model folders to sample from")->required();
  command
      ->add_option("--reference", o->reference,
                   "held-out true data (make them with `piddm data make` and another --first or --seed)")
      ->required();
  command->add_option(
      "--model", o->model,
      "take the normaliser from this model; default: from a model among the inputs, else from the reference");
  command->add_option("--n", o->n, "samples generated from each model")->capture_default_str();
  command->add_option("--poseidon", o->poseidon, "folder of a downloaded Poseidon checkpoint: adds fpd");
  command->add_option("--features", o->features, "a teacher of ours: adds the stand-in frechet_teacher");
  command->add_option("--columns", o->columns, "metrics to show, e.g. mmse_u,swd,peak_memory_mib; the .json has all")
      ->delimiter(',');
  command->add_option("--resamples", o->resamples, "of the bootstrap intervals; 0: none")->capture_default_str();
  command->add_flag("--intervals", o->intervals, "show the intervals too");
  add_task_options(*command, *o);
  command->add_option("--out", o->out, "also write the result: .json (everything), .csv or .md (the table)");
  command->callback([&context, o] { context.run = [&context, o] { evaluate(context, *o); }; });
}

}  // namespace piddm::cli
