#include "piddm/tables/compare.h"
#include "piddm/solve/methods/registry.h"

#include "piddm/core/config.h"
#include "piddm/core/device.h"
#include "piddm/core/json_text.h"
#include "piddm/core/log.h"
#include "piddm/core/table.h"
#include "piddm/eval/evaluate.h"
#include "piddm/experiment/experiment.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/sha256.h"
#include "piddm/recipe/recipe.h"
#include "piddm/tables/markdown.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMeanFieldSamples = 1024;

/// A row of the table: a method with options of its own.
struct Entrant {
  std::string label, method;
  json options;
};

class Comparison {
 public:
  Comparison(const CompareModels& models, const CompareOptions& options, const fs::path& out, torch::Device device)
      : options_(options), recipe_(out) {
    for (const auto& [name, path] :
         {std::pair{"teacher", models.teacher}, {"student", models.student}, {"pidm", models.pidm}})
      if (!path.empty()) models_[name] = load_model(path, device), hashes_[name] = hash_of(path);
    require<UsageError>(!models_.empty(), "compare: no model given; name a teacher, a student or both");
    for (const auto& [name, model] : models_)
      require<UsageError>(write_fields(model.pde->options()) == write_fields(any().pde->options()),
                          "compare: the {} is of another PDE or grid than the {}", name, models_.begin()->first);
    prepare_judge();
  }

  json run() {
    json report = {{"rows", json::array()}};
    for (const auto& task : options_.tasks)
      for (const auto& entrant : entrants()) {
        if (entrant.label != entrant.method && task != "generate") continue;
        json row = {{"method", entrant.label}, {"task", task}};
        row.update(result(entrant, parse_task(task)));
        report["rows"].push_back(row);
      }
    report["floor"] = judge_->floor(options_.samples, seed());
    report["pde"] = write_fields(any().pde->options());
    report["pde"]["channels"] = any().pde->channel_names();
    report["options"] = write_fields(options_);
    report["machine"] = describe_machine();
    return report;
  }

 private:
  static std::string hash_of(const fs::path& path) {
    const auto inner = path / "model" / "model.safetensors";
    return sha256_file(fs::exists(inner) ? inner : path / "model.safetensors");
  }

  const Model& any() const { return models_.begin()->second; }
  uint64_t seed() const { return static_cast<uint64_t>(options_.seed); }

  void prepare_judge() {
    const auto experiment = parse_experiment(any().provenance.value("experiment", json::object()));
    const auto data_seed = static_cast<uint64_t>(experiment.data.seed);
    const auto& pde = *any().pde;
    held_out_ = pde.sample(data_seed, kHeldOutFirst, std::max(options_.held_out, options_.cases)).to(torch::kFloat32);
    const auto train = pde.sample(data_seed, 0, std::min(experiment.data.n, kMeanFieldSamples));
    judge_.emplace(any().pde, any().normalizer, held_out_, train.mean(0), any().device(), options_.solved);
  }

  std::vector<Entrant> entrants() const {
    std::vector<Entrant> out;
    const auto names = options_.methods.empty() ? method_names() : options_.methods;
    for (const auto& name : names) {
      json options = options_.matched ? method_card(name).matched(json::object()) : json::object();
      merge_config(options, options_.settings.value(name, json::object()));
      out.push_back({name, name, options});
      if (name != "piddm") continue;
      json refined = {{"refine", {{"iterations", 80}}}};
      merge_config(options, refined);
      out.push_back({"piddm-ref", name, options});
    }
    return out;
  }

  std::string model_for(const std::string& method) const {
    const auto needs = method_card(method).needs;
    if (method == "pidm") return "pidm";
    if (needs) return *needs == ModelKind::teacher ? "teacher" : "student";
    return models_.begin()->first;
  }

  /// Metrics, or why there are none.
  json result(const Entrant& entrant, Task task) {
    const auto kind = model_for(entrant.method);
    if (!models_.contains(kind)) return {{"refused", fmt::format("no {} model given", kind)}};
    const auto& model = models_.at(kind);
    const auto reason = method_card(entrant.method).refusal(task, *model.pde);
    if (!reason.empty()) return {{"refused", reason}};
    json options = default_options(entrant.method, model);
    merge_config(options, entrant.options);
    const json settings = {{"model", hashes_.at(kind)},
                           {"method", entrant.method},
                           {"options", options},
                           {"seed", options_.seed},
                           {"n", task == Task::generate ? options_.samples : options_.cases},
                           {"held_out", options_.held_out},
                           {"solved", options_.solved},
                           {"device", model.device().str()},
                           {"threads", at::get_num_threads()}};
    try {
      const auto step = recipe_.step(task_name(task) + " " + entrant.label, settings, {}, [&](const fs::path& folder) {
        const auto method = make_method(entrant.method, task, model, options);
        write_file_atomically(folder / "metrics.json", metrics(*method, task).dump(2) + "\n");
      });
      return parse_json(read_file(step.folder / "metrics.json", 1 << 20), "metrics.json");
    } catch (const NumericsError& error) {
      return {{"failed", error.what()}};
    }
  }

  json metrics(Method& method, Task task) const {
    if (task == Task::generate) return judge_->samples(method.generate(0, options_.samples, seed()));
    const auto truth = held_out_.narrow(0, 0, options_.cases);
    const auto observation = observe(task, truth, *any().pde, seed());
    return judge_->task(method.solve(observation, seed()), truth, observation);
  }

  CompareOptions options_;
  Recipe recipe_;
  std::map<std::string, Model> models_;
  std::map<std::string, std::string> hashes_;
  Tensor held_out_;
  std::optional<Judge> judge_;
};

std::vector<std::string> shown_metrics(const json& report) {
  std::vector<std::string> out = {"mmse", "smse"};
  for (const auto& channel : report.at("pde").at("channels")) out.push_back("mse_" + channel.get<std::string>());
  for (const char* name : {"pde_error", "rel_residual", "solution_error", "nfe", "backward", "seconds_per_sample"})
    out.emplace_back(name);
  return out;
}

Table table_of(const json& report) {
  const auto columns = shown_metrics(report);
  std::vector<std::string> header = {"task", "method"};
  header.insert(header.end(), columns.begin(), columns.end());
  std::vector<Align> align(header.size(), Align::right);
  align[0] = align[1] = Align::left;
  Table table(header, align);
  for (const auto& row : report.at("rows")) {
    if (row.contains("refused")) continue;
    std::vector<std::string> cells = {row.at("task").get<std::string>(), row.at("method").get<std::string>()};
    for (const auto& column : columns) cells.push_back(number_cell(row, column));
    table.add_row(cells);
  }
  return table;
}

std::string remarks(const json& report) {
  std::string text;
  for (const auto& row : report.at("rows"))
    for (const char* kind : {"refused", "failed"})
      if (row.contains(kind))
        text += fmt::format("- {} {}: {}\n", row.at("method").get<std::string>(), row.at("task").get<std::string>(),
                            row.at(kind).get<std::string>());
  return text;
}

std::string explanation(const json& report) {
  const auto& o = report.at("options");
  return fmt::format(
      "{} samples against {} held-out true ones (floor of mmse {}, of smse {}; true data have pde_error {}); {} cases "
      "a "
      "task.\nErrors in units of a channel's variance; mse over what was not given; nfe, backward and seconds a "
      "sample.\n",
      o.at("samples").get<int64_t>(), o.at("held_out").get<int64_t>(), number_cell(report.at("floor"), "mmse"),
      number_cell(report.at("floor"), "smse"), number_cell(report.at("floor"), "pde_error"),
      o.at("cases").get<int64_t>());
}

}  // namespace

json run_compare(const CompareModels& models, const CompareOptions& options, const fs::path& out,
                 torch::Device device) {
  auto report = Comparison(models, options, out, device).run();
  const auto table = table_of(report);
  write_file_atomically(out / "compare.json", report.dump(2) + "\n");
  write_file_atomically(out / "compare.csv", table.csv());
  write_file_atomically(out / "compare.md",
                        fmt::format("# Methods on {}\n\n{}\n{}\n{}", report.at("pde").at("name").get<std::string>(),
                                    table.markdown(), explanation(report), remarks(report)));
  return report;
}

std::string format_compare(const json& report) {
  return table_of(report).text() + "\n" + explanation(report) + remarks(report);
}

}  // namespace piddm
