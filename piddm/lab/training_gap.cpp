#include "piddm/lab/training_gap.h"

#include <algorithm>
#include <numeric>

#include "piddm/core/table.h"
#include "piddm/experiment/experiment.h"
#include "piddm/files/atomic_file.h"
#include "piddm/plot/picture_file.h"
#include "piddm/recipe/recipe.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr const char *kDiffusion = "diffusion", *kPdeError = "pde_error";  // terms in the metrics of a training

struct Options {
  uint64_t seed = 0;
  int64_t seeds = 3;
  int64_t windows = 30;
  Experiment experiment;

  template <class V>
  void fields(V&& f) {
    f("seed", seed, kSeeds, "the first seed");
    f("seeds", seeds, count_from(1), "trainings of each kind, with seeds one after another");
    f("windows", windows, count_from(1), "points of a curve: means over equal windows of iterations");
    f("experiment", experiment, "data, network and training of both; pidm is the residual term of the second kind");
  }

  static std::vector<FormerKey> former_keys() { return {{"pidm", "experiment.pidm"}}; }
};

/// One quantity of one training, averaged over windows.
using Series = std::vector<double>;

Series windowed(const std::vector<json>& rows, const std::string& key, int64_t windows) {
  Series out;
  const auto n = static_cast<int64_t>(rows.size());
  for (int64_t w = 0; w < windows; ++w) {
    const int64_t first = w * n / windows, last = (w + 1) * n / windows;
    double sum = 0;
    for (int64_t i = first; i < last; ++i) sum += rows[static_cast<size_t>(i)].at(key).get<double>();
    out.push_back(sum / static_cast<double>(last - first));
  }
  return out;
}

/// Mean and range over the seeds at each point.
struct Band {
  Series mean, low, high;
};

Band band_of(const std::vector<Series>& seeds) {
  Band band;
  for (size_t i = 0; i < seeds.front().size(); ++i) {
    Series at;
    for (const auto& series : seeds) at.push_back(series[i]);
    band.mean.push_back(std::accumulate(at.begin(), at.end(), 0.0) / static_cast<double>(at.size()));
    band.low.push_back(*std::min_element(at.begin(), at.end()));
    band.high.push_back(*std::max_element(at.begin(), at.end()));
  }
  return band;
}

/// A quantity at the end of training: mean and range over the seeds.
struct Final {
  double mean = 0, low = 0, high = 0;

  template <class V>
  void fields(V&& f) {
    f("mean", mean, "over seeds");
    f("low", low, "lowest seed");
    f("high", high, "highest seed");
  }
};

struct Arm {
  Final diffusion, pde_error;

  template <class V>
  void fields(V&& f) {
    f(kDiffusion, diffusion, "diffusion loss");
    f(kPdeError, pde_error, "pde_error of the clean estimate");
  }
};

Final last_of(const Band& band) { return {band.mean.back(), band.low.back(), band.high.back()}; }

class TrainingGap {
 public:
  TrainingGap(const Options& options, const fs::path& out, torch::Device device)
      : o_(options), recipe_(out), device_(device) {}

  json run() {
    const auto& e = o_.experiment;
    const auto data =
        recipe_.step("training data", {{"pde", write_fields(e.pde)}, {"data", write_fields(e.data)}}, {},
                     [&](const fs::path& folder) { save_dataset(folder / "data.npz", training_data(e)); });
    std::vector<Series> plain, pidm, plain_error, pidm_error;
    json increase = json::array();
    for (int64_t k = 0; k < o_.seeds; ++k) {
      const auto without = train_step("plain", k, data), with = train_step("pidm", k, data);
      plain.push_back(windowed(without, kDiffusion, o_.windows));
      pidm.push_back(windowed(with, kDiffusion, o_.windows));
      plain_error.push_back(windowed(without, kPdeError, o_.windows));
      pidm_error.push_back(windowed(with, kPdeError, o_.windows));
      increase.push_back(pidm.back().back() / plain.back().back());
    }
    const auto a = band_of(plain), b = band_of(pidm), a_error = band_of(plain_error), b_error = band_of(pidm_error);
    write_curves(a, b);
    const Arm plain_arm{last_of(a), last_of(a_error)}, pidm_arm{last_of(b), last_of(b_error)};
    return {{"arms", {{"plain", write_fields(plain_arm)}, {"pidm", write_fields(pidm_arm)}}}, {"increase", increase}};
  }

 private:
  /// The rows of one training. The plain one records the residual too, with no weight.
  std::vector<json> train_step(const std::string& arm, int64_t k, const StepResult& data) {
    auto experiment = o_.experiment;
    experiment.seed = o_.seed + static_cast<uint64_t>(k);
    experiment.pidm.watch = true;
    if (arm == "plain") experiment.pidm.lambda = 0;
    json settings = {
        {"seed", experiment.seed},         {"pidm", write_fields(experiment.pidm)},   {"model", experiment.model},
        {"process", experiment.process},   {"train", write_fields(experiment.train)}, {"device", device_.str()},
        {"threads", at::get_num_threads()}};
    const auto name = fmt::format("{} {}", arm, experiment.seed);
    const auto step = recipe_.step(name, settings, {data}, [&](const fs::path& folder) {
      train_teacher(experiment, load_dataset(data.folder / "data.npz"), folder, device_, true);
    });
    return RunFolder::read_metrics(step.folder);
  }

  Series iterations() const {
    Series x;
    for (int64_t w = 0; w < o_.windows; ++w)
      x.push_back((static_cast<double>(w) + 0.5) * static_cast<double>(o_.experiment.train.steps) /
                  static_cast<double>(o_.windows));
    return x;
  }

  void write_curves(const Band& plain, const Band& pidm) const {
    const auto x = iterations();
    std::vector<Curve> curves;
    for (const auto& [name, band] : {std::pair{"plain", &plain}, {"pidm", &pidm}}) {
      curves.push_back({.name = std::string(name) + ", mean and range of seeds",
                        .x = x,
                        .y = band->mean,
                        .low = band->low,
                        .high = band->high});
    }
    write_sheet(
        in_rows("Diffusion loss of Stokes, plain and with the residual of the clean estimate",
                {LineChart{.x_label = "iteration", .y_label = "diffusion loss", .curves = curves, .log_y = true}}, 1),
        recipe_.root(), "figure-training-gap");
    Table table({"iteration", "plain", "plain_low", "plain_high", "pidm", "pidm_low", "pidm_high"});
    for (size_t i = 0; i < x.size(); ++i) {
      std::vector<std::string> row;
      for (const double value :
           {x[i], plain.mean[i], plain.low[i], plain.high[i], pidm.mean[i], pidm.low[i], pidm.high[i]})
        row.push_back(fmt::format("{:.9g}", value));
      table.add_row(row);
    }
    write_file_atomically(recipe_.root() / "curves.csv", table.csv());
  }

  Options o_;
  Recipe recipe_;
  torch::Device device_;
};

Options parsed(const json& settings) {
  Options o;
  read_fields(settings, o);
  o.experiment = parse_experiment(write_fields(o.experiment));
  require<UsageError>(
      o.experiment.train.steps / o.experiment.train.log_every >= o.windows,
      "figure-training-gap: {} windows need as many recorded iterations; lower experiment.train.log_every", o.windows);
  return o;
}

json run(const json& settings, const fs::path& out, torch::Device device) {
  const auto o = parsed(settings);
  return TrainingGap(o, out, device).run();
}

std::string format(const json& report) {
  Table table({"training", "diffusion loss", "lowest seed", "highest seed", "pde_error of x0^"});
  for (const auto& [name, entry] : report.at("arms").items()) {
    Arm arm;
    read_fields(entry, arm);
    table.add_row({name, format_number(arm.diffusion.mean), format_number(arm.diffusion.low),
                   format_number(arm.diffusion.high), format_number(arm.pde_error.mean)});
  }
  std::string factors;
  for (const auto& factor : report.at("increase")) factors += fmt::format(" {:.3g}", factor.get<double>());
  return table.markdown() +
         fmt::format("\nDiffusion loss with the residual over the loss without it, seed by seed:{}\n", factors);
}

}  // namespace

LabRecipe figure_training_gap() {
  const auto options = [](Scale scale) {
    Options o;
    o.experiment = load_experiment(scale == Scale::paper ? "stokes" : "stokes-32", {});
    o.experiment.pidm.lambda = 10;
    o.experiment.train.log_every = scale == Scale::paper ? 20 : 2;
    if (scale != Scale::paper) o.experiment.data.n = 1024;
    if (scale == Scale::smoke) o.experiment.train.steps = 240, o.experiment.train.batch = 16;
    if (scale == Scale::small) o.experiment.train.steps = 1500;
    return write_fields(o);
  };
  return {options, [](const json& settings) { parsed(settings); }, run, format};
}

}  // namespace piddm
