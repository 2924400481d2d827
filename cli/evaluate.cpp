#include "piddm/eval/evaluate.h"
#include "cli/command.h"
#include "cli/samples.h"
#include "piddm/core/atomic_file.h"
#include "piddm/data/dataset.h"
#include "piddm/eval/table.h"

namespace piddm::cli {

namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> inputs;
  std::string reference, model, out;
  int64_t n = 1024;
};

const std::vector<std::string> kColumns = {"n",    "pde_error", "rel_residual", "solution_error",
                                           "mmse", "smse",      "nfe",          "seconds_per_sample"};

// A folder is a model: it generates; a file holds samples, and says what they cost.
Samples samples_of(const Context& context, const std::string& input, int64_t n) {
  if (fs::is_directory(input)) {
    const auto model = load_model(input, context.device());
    return method_registry().at(default_method(model))(model, json::object())->generate(0, n, context.seed);
  }
  const auto data = load_dataset(input);
  const auto origin = data.description.value("origin", json::object());
  return {data.fields, origin.value("nfe", 0.0), origin.value("backward", 0.0),
          origin.value("seconds_per_sample", 0.0)};
}

Normalizer normalizer_of(const Options& o, const Dataset& reference, const Pde& pde) {
  for (const auto& candidate : o.inputs)
    if (o.model.empty() && fs::is_directory(candidate)) return load_model(candidate).normalizer;
  if (!o.model.empty()) return load_model(o.model).normalizer;
  return Normalizer::fit(reference.fields, pde.channels());
}

void add_row(Table& table, const std::string& name, const json& row) {
  std::vector<std::string> cells = {name};
  for (const auto& column : kColumns)
    cells.push_back(row.contains(column) ? format_number(row.at(column).get<double>()) : "-");
  table.add_row(cells);
}

void evaluate(const Context& context, const Options& o) {
  if (!o.out.empty()) check_output(o.out, {".json"});
  const auto reference = load_dataset(o.reference);
  require<UsageError>(reference.description.contains("pde"), "{}: does not say which PDE it is of", o.reference);
  const auto pde = pde_of(reference);
  const Judge judge(pde, normalizer_of(o, reference, *pde), reference.fields,
                    reference.fields.to(torch::kFloat64).mean(0));

  std::vector<std::string> header = {"samples"};
  header.insert(header.end(), kColumns.begin(), kColumns.end());
  Table table(header);
  json report = {{"reference", o.reference}, {"samples", json::object()}};
  int64_t smallest = o.n;
  for (const auto& input : o.inputs) {
    const auto samples = samples_of(context, input, o.n);
    smallest = std::min(smallest, samples.x.size(0));
    report["samples"][input] = judge.samples(samples);
    add_row(table, input, report["samples"][input]);
  }
  report["floor"] = judge.floor(smallest, context.seed);
  add_row(table, "floor (true data)", report["floor"]);
  report["machine"] = describe_machine();
  if (!o.out.empty()) write_file_atomically(o.out, report.dump(2) + "\n");
  context.print(report, table.text());
}

}  // namespace

void add_evaluate(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "evaluate", "Judge samples against held-out true data");
  auto o = std::make_shared<Options>();
  command->add_option("inputs", o->inputs, "sample files, or run/model folders to sample from")->required();
  command
      ->add_option("--reference", o->reference,
                   "held-out true data (make them with `piddm data make` and another --first or --seed)")
      ->required();
  command->add_option(
      "--model", o->model,
      "take the normaliser from this model; default: from a model among the inputs, else from the reference");
  command->add_option("--n", o->n, "samples generated from each model")->capture_default_str();
  command->add_option("--out", o->out, "also write the result as .json");
  command->callback([&context, o] { context.run = [&context, o] { evaluate(context, *o); }; });
}

}  // namespace piddm::cli
