#include "piddm/lab/corruptions.h"

#include <map>

#include "piddm/core/table.h"
#include "piddm/eval/evaluate.h"
#include "piddm/eval/metric_registry.h"
#include "piddm/experiment/experiment.h"
#include "piddm/files/atomic_file.h"
#include "piddm/recipe/recipe.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr const char *kNone = "none", *kRows = "rows", *kFloor = "floor";
constexpr int64_t kCopies = 8, kPart = 8;  // a duplicated sample is there so often; modes up to this part of the points
constexpr int64_t kReferenceFirst = int64_t{1} << 30, kSamplesFirst = int64_t{1} << 31;  // nobody is trained on these

struct Options {
  uint64_t seed = 0;
  int64_t samples = 1024;
  int64_t solved = 128;
  int64_t resamples = 0;
  double share = 0.003;
  bool classifier = true;
  Experiment experiment;

  template <class V>
  void fields(V&& f) {
    f("seed", seed, kSeeds, "of speckles and splits");
    f("samples", samples, count_from(16, 1e6), "damaged samples, and true ones they are compared with");
    f("solved", solved, count_from(1, 1e6), "samples compared with the solution of their own coefficients");
    f("resamples", resamples, count_from(0, 1e6), "bootstrap resamples behind the intervals; 0: none");
    f("share", share, between(0, 1), "of the cells that are speckled");
    f("classifier", classifier, "train the classifier of the two-sample test for each row");
    f("experiment", experiment, "PDE, data, network and training of the teacher that lends its features");
  }
};

Options parsed(const json& settings) {
  Options o;
  read_fields(settings, o);
  o.experiment = parse_experiment(write_fields(o.experiment));
  require<UsageError>(metric_parts(*make_pde(o.experiment.pde)).has_two_valued,
                      "table-corruptions: {} has no two-valued coefficient to damage", o.experiment.pde.name);
  return o;
}

/// [N,C,H,W] smoothed by (1 2 1)/4 along both axes, edges continued.
Tensor smoothed(const Tensor& x) {
  const auto p = at::replication_pad2d(x, {1, 1, 1, 1});
  const auto rows = (p.narrow(2, 0, x.size(2)) + 2 * p.narrow(2, 1, x.size(2)) + p.narrow(2, 2, x.size(2))) / 4;
  return (rows.narrow(3, 0, x.size(3)) + 2 * rows.narrow(3, 1, x.size(3)) + rows.narrow(3, 2, x.size(3))) / 4;
}

Tensor without_detail(const Tensor& x) { return low_pass(x, std::min(x.size(2), x.size(3)) / kPart); }

/// A share of the cells of two-valued channels at the other value.
Tensor speckled(const Tensor& x, const Pde& pde, double share, uint64_t seed) {
  auto out = x.clone();
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& values = pde.channels()[static_cast<size_t>(c)].two_valued;
    if (!values) continue;
    auto field = out.select(1, c);
    const auto draw = uniform(seed + static_cast<uint64_t>(c), Stream::noise, 0, x.size(0), {x.size(2), x.size(3)},
                              torch::kFloat64, x.device());
    field.copy_(torch::where(draw < share, values->first + values->second - field, field));
  }
  return out;
}

class Corruptions {
 public:
  Corruptions(const Options& options, const fs::path& out, torch::Device device)
      : o_(options), pde_(make_pde(o_.experiment.pde)), recipe_(out), device_(device) {}

  json run() {
    const auto teacher = teacher_step();
    json rows = json::object();
    for (const auto& name : corruptions())
      rows[name] = judged(name, teacher, [&](const Judge& judge) {
        const auto x = corrupted(name, true_samples(kSamplesFirst), *pde_, o_.share, o_.seed);
        return judge.samples({x}, {static_cast<int>(o_.resamples), o_.seed});
      });
    const json floor = judged(kFloor, teacher, [&](const Judge& judge) { return judge.floor(o_.samples, o_.seed); });
    return {{kRows, rows}, {kFloor, floor}};
  }

 private:
  Tensor true_samples(int64_t first) const {
    return pde_->sample(o_.experiment.data.seed, first, o_.samples, nullptr, device_);
  }

  json machine() const { return {{"device", device_.str()}, {"threads", at::get_num_threads()}}; }

  StepResult teacher_step() {
    const auto& e = o_.experiment;
    json settings = {{"pde", write_fields(e.pde)}, {"data", write_fields(e.data)}, {"seed", e.seed},
                     {"model", e.model},           {"process", e.process},         {"train", write_fields(e.train)}};
    settings.update(machine());
    return recipe_.step("teacher " + e.pde.name, settings, {},
                        [&](const fs::path& folder) { train_teacher(e, training_data(e), folder, device_, true); });
  }

  json judged(const std::string& name, const StepResult& teacher, const std::function<Scores(const Judge&)>& work) {
    json settings = {{"seed", o_.seed},           {"samples", o_.samples}, {"solved", o_.solved},
                     {"resamples", o_.resamples}, {"share", o_.share},     {"classifier", o_.classifier}};
    settings.update(machine());
    const auto step = recipe_.step(name, settings, {teacher}, [&](const fs::path& folder) {
      write_json_file(folder / "result.json", result_format(), json(work(judge(teacher))));
    });
    return of_step(step.folder, [&] {
      const json scores = read_json_file(step.folder / "result.json", result_format()).get<Scores>();
      return scores;
    });
  }

  const Judge& judge(const StepResult& teacher) {
    if (judge_) return *judge_;
    const auto model = of_step(teacher.folder, [&] { return load_model(teacher.folder, device_); });
    const auto truth = true_samples(kReferenceFirst);
    judge_ = std::make_unique<Judge>(pde_, model.normalizer, truth, truth.mean(0), device_, o_.solved);
    judge_->add(teacher_metric(model, *pde_));
    if (o_.classifier) judge_->add(ClassifierRecipe{});
    return *judge_;
  }

  Options o_;
  PdePtr pde_;
  Recipe recipe_;
  torch::Device device_;
  std::unique_ptr<Judge> judge_;
};

const std::vector<std::string>& shown_metrics() {
  static const std::vector<std::string> names = {"mmse",
                                                 "smse",
                                                 "swd",
                                                 "apdd",
                                                 "frechet_teacher",
                                                 "spectrum_error",
                                                 "worst_band",
                                                 "between",
                                                 "interface",
                                                 "interface_ratio",
                                                 "islands",
                                                 "islands_ratio",
                                                 "classifier_cut",
                                                 "classifier_decoded",
                                                 "pde_error",
                                                 "solution_error"};
  return names;
}

Table table_of(const json& report) {
  std::vector<std::string> header = {"metric"};
  for (const auto& name : corruptions()) header.push_back(name);
  header.emplace_back(kFloor);
  Table table(header);
  const auto add = [](std::vector<std::string>& cells, const Scores& scores, const std::string& metric) {
    const auto value = scores.find(metric);
    cells.push_back(value ? format_number(*value) : "-");
  };
  for (const auto& metric : shown_metrics()) {
    std::vector<std::string> cells = {metric};
    for (const auto& name : corruptions()) add(cells, report.at(kRows).at(name).get<Scores>(), metric);
    add(cells, report.at(kFloor).get<Scores>(), metric);
    table.add_row(cells);
  }
  return table;
}

json run(const json& settings, const fs::path& out, torch::Device device) {
  const auto report = Corruptions(parsed(settings), out, device).run();
  write_file_atomically(out / "corruptions.csv", table_of(report).csv());
  return report;
}

}  // namespace

const std::vector<std::string>& corruptions() {
  static const std::vector<std::string> names = {kNone,      "blurred",        "rounded",
                                                 "speckled", "without detail", "duplicated"};
  return names;
}

Tensor corrupted(const std::string& corruption, const Tensor& x, const Pde& pde, double share, uint64_t seed) {
  const std::map<std::string, std::function<Tensor()>> ways = {
      {kNone, [&] { return x; }},
      {"blurred", [&] { return smoothed(smoothed(x)); }},
      {"rounded", [&] { return pde.decode(cut_to_values(without_detail(x), pde.channels())).x; }},
      {"speckled", [&] { return speckled(x, pde, share, seed); }},
      {"without detail", [&] { return without_detail(x); }},
      {"duplicated", [&] {
         return x.slice(0, 0, (x.size(0) + kCopies - 1) / kCopies).repeat({kCopies, 1, 1, 1}).slice(0, 0, x.size(0));
       }}};
  require<UsageError>(ways.contains(corruption), "{}", unknown_name_message("corruption", corruption, corruptions()));
  return ways.at(corruption)();
}

LabRecipe table_corruptions() {
  const auto options = [](Scale scale) {
    Options o;
    o.experiment = load_experiment(scale == Scale::paper ? "darcy" : "darcy-32", {});
    if (scale == Scale::paper) o.samples = 4096;
    if (scale == Scale::small) o.experiment.train.steps = 1000;
    if (scale == Scale::smoke) {
      o.samples = 64;
      o.classifier = false;
      o.experiment.data.n = 256;
      o.experiment.train.steps = 60;
    }
    return write_fields(o);
  };
  return {options, [](const json& settings) { parsed(settings); }, run,
          [](const json& report) { return table_of(report).markdown(); }};
}

}  // namespace piddm
