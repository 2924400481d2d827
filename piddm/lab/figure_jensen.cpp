#include "piddm/lab/figure_jensen.h"

#include <algorithm>

#include "piddm/core/table.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"
#include "piddm/files/safetensors.h"
#include "piddm/lab/distance.h"
#include "piddm/lab/histogram.h"
#include "piddm/lab/mixture_network.h"
#include "piddm/lab/toy_samplers.h"
#include "piddm/plot/picture_file.h"
#include "piddm/recipe/recipe.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr double kSpread = 0.2;    // standard deviation of x_1 given z
constexpr double kTimeEnd = 1e-3;  // where sampling stops
constexpr double kWeight = 0.035;  // of the guidance per step, for the velocity errors and the histograms
constexpr int64_t kTimes = 50;     // at which velocities are compared
const std::vector<double> kWeights = {0, 3.5e-4, 3.5e-3, 0.035, 0.35};  // per step, compared in the table

struct Options {
  uint64_t seed = 0;
  int64_t samples = 2000;
  int64_t steps = 100;

  template <class V>
  void fields(V&& f) {
    f("seed", seed, kSeeds, "seed of every random number");
    f("samples", samples, count_from(2, 1e7),
      "samples per process and weight, half of them for each z; an even number");
    f("steps", steps, count_from(1), "Euler steps");
  }

  static std::vector<FormerKey> former_keys() {
    std::vector<FormerKey> out;
    for (const char* key : {"times", "weight", "weights", "spread", "t_end"})
      out.push_back({key, "", "it is a constant of figure_jensen.cpp"});
    return out;
  }
};

/// Mean errors of the guided velocity over time, one entry per time.
struct VelocityErrors {
  std::vector<double> t, absolute, absolute_free, absolute_constrained, angular;

  template <class V>
  void fields(V&& f) {
    f("t", t, "time; 1 is noise");
    f("absolute", absolute, "|v_DPS - v_GT| per coordinate");
    f("absolute_free", absolute_free, "the same of x_1");
    f("absolute_constrained", absolute_constrained, "the same of x_2");
    f("angular", angular, "1 - cos of the angle between the two");
  }
};

/// Samples against the law given z.
struct Judgement {
  double wrong_side = 0, w1_free = 0, w1_constrained = 0, mean_free = 0, std_free = 0, std_constrained = 0,
         w1_free_marginal = 0;

  template <class V>
  void fields(V&& f) {
    f("wrong_side", wrong_side, "share of samples on the line of the other z");
    f("w1_free", w1_free, "W1 of x_1 z from its law");
    f("w1_constrained", w1_constrained, "W1 of x_2 z from 1");
    f("mean_free", mean_free, "mean of x_1 z");
    f("std_free", std_free, "standard deviation of x_1 z");
    f("std_constrained", std_constrained, "standard deviation of x_2 z");
    f("w1_free_marginal", w1_free_marginal, "W1 of x_1 from its law over both z");
  }
};

struct GuidedRow {
  double weight = 0;
  Judgement samples;

  template <class V>
  void fields(V&& f) {
    f("weight", weight, "of the guidance per step");
    samples.fields(f);
  }
};

/// Where the absolute error is largest, and what it is at both ends.
struct Peak {
  double t = 0, absolute = 0, at_start = 0, at_end = 0;

  template <class V>
  void fields(V&& f) {
    f("t", t, "time of the largest error");
    f("absolute", absolute, "the largest error");
    f("at_start", at_start, "at t = 1");
    f("at_end", at_end, "where sampling stops");
  }
};

struct ProcessResult {
  VelocityErrors errors;
  Judgement conditional;
  std::vector<GuidedRow> guided;
  Peak peak;

  template <class V>
  void fields(V&& f) {
    f("errors", errors, "of the guided velocity");
    f("conditional", conditional, "samples of the exact conditional ODE");
    f("guided", guided, "samples of DPS, one row per weight");
    f("peak", peak, "of the absolute error");
  }
};

Tensor vector(double a, double b) { return torch::tensor({a, b}, torch::kFloat64); }

GaussianMixture two_lines() {
  const auto flat = torch::diag(vector(kSpread * kSpread, 0.0));
  return GaussianMixture({{1, vector(-1, -1), flat}, {1, vector(1, 1), flat}});
}

/// One process: its velocity errors and its samples. The first half of every batch has z = -1, the second z = 1.
class GuidanceBench {
 public:
  GuidanceBench(const Options& o, const std::string& process, torch::Device device)
      : o_(o),
        process_(process_registry().at(process)()),
        law_(two_lines()),
        network_(law_, process_),
        device_(device) {
    const auto half = torch::ones({o.samples / 2}, torch::kFloat64);
    z_ = torch::cat({-half, half}).to(device);
  }

  VelocityErrors velocity_errors() {
    VelocityErrors out;
    for (int64_t i = 0; i < kTimes; ++i) {
      const double t = 1 - (1 - kTimeEnd) * static_cast<double>(i) / static_cast<double>(kTimes - 1);
      const auto time = torch::full({1}, t, z_.options());
      const auto x = process_->diffuse(true_samples(), gaussian(Stream::noise, i), time);
      const auto truth = conditional_velocity(x, time);
      const auto guided = guided_velocity(network_, *process_, loss(), guidance(kWeight).per_time(), x, time);
      const auto error = (guided - truth).abs().flatten(1);
      const auto cosine = torch::cosine_similarity(guided.flatten(1), truth.flatten(1), 1);
      out.t.push_back(t);
      out.absolute.push_back(error.mean().item<double>());
      out.absolute_free.push_back(error.select(1, 0).mean().item<double>());
      out.absolute_constrained.push_back(error.select(1, 1).mean().item<double>());
      out.angular.push_back((1 - cosine).mean().item<double>());
    }
    return out;
  }

  Tensor guided_samples(double weight) {
    return sample_guided(network_, *process_, loss(), guidance(weight), gaussian(Stream::latents, 0)).flatten(1);
  }

  /// The exact conditional ODE through the same Euler steps.
  Tensor conditional_samples() const {
    torch::NoGradGuard no_grad;
    const auto field = [&](const Tensor& x, const Tensor& t) { return conditional_velocity(x, t); };
    return integrate_euler(field, gaussian(Stream::latents, 0), o_.steps, kTimeEnd).flatten(1);
  }

  Judgement judge(const Tensor& x) const {
    const auto free = x.select(1, 0) * z_, constrained = x.select(1, 1) * z_;
    return {.wrong_side = (constrained < 0).to(torch::kFloat64).mean().item<double>(),
            .w1_free = wasserstein(free, law_.component(1).marginal(vector(1, 0))),
            .w1_constrained = (constrained - 1).abs().mean().item<double>(),
            .mean_free = free.mean().item<double>(),
            .std_free = free.std().item<double>(),
            .std_constrained = constrained.std().item<double>(),
            .w1_free_marginal = wasserstein(x.select(1, 0), law_.marginal(vector(1, 0)))};
  }

 private:
  ToyGuidance guidance(double weight) const {
    return {.steps = o_.steps, .weight = weight, .unit = GuidanceUnit::per_step, .t_end = kTimeEnd};
  }

  SampleLoss loss() const {
    return [z = z_](const Tensor& x0) { return (x0.flatten(1).select(1, 1) - z).square(); };
  }

  Tensor gaussian(Stream stream, int64_t block) const {
    return normal(o_.seed, stream, block * o_.samples, o_.samples, {2, 1, 1}, torch::kFloat64).to(device_);
  }

  Tensor true_samples() const {
    const int64_t half = o_.samples / 2;
    const auto draw = [&](int64_t k) {
      return law_.component(k).sample(o_.seed, Stream::coefficients, k * half, half);
    };
    return torch::cat({draw(0), draw(1)}).to(device_);
  }

  Tensor conditional_velocity(const Tensor& x, const Tensor& t) const {
    const auto halves = x.chunk(2);
    return torch::cat(
        {law_.component(0).velocity(halves[0], t, *process_), law_.component(1).velocity(halves[1], t, *process_)});
  }

  Options o_;
  ProcessPtr process_;
  GaussianMixture law_;
  MixtureNetwork network_;
  torch::Device device_;
  Tensor z_;  // [samples]
};

Peak peak_of(const VelocityErrors& errors) {
  const auto& values = errors.absolute;
  const auto top = std::max_element(values.begin(), values.end());
  return {errors.t[static_cast<size_t>(top - values.begin())], *top, values.front(), values.back()};
}

void run_process(const Options& o, const std::string& process, torch::Device device, const fs::path& folder) {
  GuidanceBench bench(o, process, device);
  const auto conditional = bench.conditional_samples();
  ProcessResult result{bench.velocity_errors(), bench.judge(conditional), {}, {}};
  result.peak = peak_of(result.errors);
  TensorMap samples{{"conditional", conditional.cpu()}, {"guided", bench.guided_samples(kWeight).cpu()}};
  for (const double weight : kWeights)
    result.guided.push_back(
        {weight, bench.judge(weight == kWeight ? samples.at("guided").to(device) : bench.guided_samples(weight))});
  write_safetensors(folder / "samples.safetensors", samples);
  write_json_file(folder / "result.json", result_format(), write_fields(result));
}

/// What a process gave, and its samples under "conditional" and "guided".
struct ProcessOutcome {
  std::string process;
  ProcessResult result;
  TensorMap samples;
};

ProcessOutcome read_outcome(const std::string& process, const fs::path& folder) {
  return of_step(folder, [&] {
    ProcessOutcome out{process, {}, read_safetensors(folder / "samples.safetensors").tensors};
    read_fields(read_json_file(folder / "result.json", result_format()), out.result);
    return out;
  });
}

void write_curves(const std::vector<ProcessOutcome>& outcomes, const fs::path& csv) {
  Table table({"process", "t", "absolute", "absolute_free", "absolute_constrained", "angular"});
  for (const auto& outcome : outcomes) {
    const auto& e = outcome.result.errors;
    for (size_t i = 0; i < e.t.size(); ++i) {
      std::vector<std::string> row = {outcome.process};
      for (const auto* column : {&e.t, &e.absolute, &e.absolute_free, &e.absolute_constrained, &e.angular})
        row.push_back(fmt::format("{:.9g}", (*column)[i]));
      table.add_row(row);
    }
  }
  write_file_atomically(csv, table.csv());
}

LineChart error_chart(const std::vector<ProcessOutcome>& outcomes, std::vector<double> VelocityErrors::*values,
                      const std::string& title, const std::string& label) {
  std::vector<Curve> curves;
  for (const auto& outcome : outcomes)
    curves.push_back({outcome.process, outcome.result.errors.t, outcome.result.errors.*values});
  return {.title = title, .x_label = "t (1 is noise)", .y_label = label, .curves = std::move(curves)};
}

LineChart histogram_chart(const std::vector<ProcessOutcome>& outcomes, int64_t coordinate, const std::string& title,
                          const std::string& label) {
  const HistogramRange range{-1.8, 1.8, 120};
  std::vector<Curve> curves = {
      histogram_curve("exact conditional", outcomes.front().samples.at("conditional").select(1, coordinate), range)};
  for (const auto& outcome : outcomes)
    curves.push_back(
        histogram_curve("DPS " + outcome.process, outcome.samples.at("guided").select(1, coordinate), range));
  return {.title = title, .x_label = label, .y_label = "density", .curves = std::move(curves)};
}

void draw(const std::vector<ProcessOutcome>& outcomes, const fs::path& out) {
  write_sheet(in_rows("Guidance by the clean estimate (DPS) against the exact velocity and law",
                      {error_chart(outcomes, &VelocityErrors::absolute, "Velocity error", "mean |v_DPS - v_GT|"),
                       error_chart(outcomes, &VelocityErrors::angular, "Angular error", "1 - cos"),
                       histogram_chart(outcomes, 0, "Free coordinate", "x_1"),
                       histogram_chart(outcomes, 1, "Constrained coordinate", "x_2")},
                      2),
              out, "figure-jensen");
}

Options parsed(const json& settings) {
  Options o;
  read_fields(settings, o);
  require<UsageError>(o.samples % 2 == 0, "figure-jensen: samples must be even, got {}", o.samples);
  return o;
}

json run(const json& settings, const fs::path& out, torch::Device device) {
  const auto o = parsed(settings);
  Recipe recipe(out);
  json processes = json::object();
  std::vector<ProcessOutcome> outcomes;
  for (const auto& process : process_registry().names()) {
    json settings_here = write_fields(o);
    settings_here.update({{"process", process}});
    const auto step = recipe.step("jensen " + process, settings_here, {},
                                  [&](const fs::path& folder) { run_process(o, process, device, folder); });
    outcomes.push_back(read_outcome(process, step.folder));
    processes[process] = write_fields(outcomes.back().result);
  }
  write_curves(outcomes, out / "velocity-errors.csv");
  draw(outcomes, out);
  const auto free = two_lines().component(1).marginal(vector(1, 0));
  const double floor = wasserstein_floor(free, o.samples, o.seed);
  return {{"processes", processes}, {"floor", json{{"w1_free", floor}}}};
}

std::string format(const json& report) {
  Table peaks({"process", "error at t=1", "largest error", "at t", "error at the end"});
  Table table({"process", "weight per step", "wrong side", "W1 free", "std free", "W1 constrained", "std constrained"});
  const auto add = [&](const std::string& process, const std::string& weight, const Judgement& j) {
    table.add_row({process, weight, format_number(j.wrong_side), format_number(j.w1_free), format_number(j.std_free),
                   format_number(j.w1_constrained), format_number(j.std_constrained)});
  };
  for (const auto& [name, json_result] : report.at("processes").items()) {
    ProcessResult result;
    read_fields(json_result, result);
    const auto& peak = result.peak;
    peaks.add_row({name, format_number(peak.at_start), format_number(peak.absolute), format_number(peak.t),
                   format_number(peak.at_end)});
    add(name, "exact conditional", result.conditional);
    for (const auto& row : result.guided) add(name, format_number(row.weight), row.samples);
  }
  return "Velocity of DPS against the exact conditional one, mean absolute error per coordinate\n\n" +
         peaks.markdown() +
         "\nSamples against the law given z (free: x_1 z, law N(1, 0.2^2); constrained: x_2 z, law: exactly 1)\n\n" +
         table.markdown() +
         fmt::format("\nW1 free of true samples: {} (95th percentile)\n",
                     format_number(report.at("floor").at("w1_free").get<double>()));
}

}  // namespace

LabRecipe figure_jensen() {
  const auto options = [](Scale scale) {
    Options o;
    o.samples = scale == Scale::smoke ? 2000 : scale == Scale::small ? 10000 : 50000;
    return write_fields(o);
  };
  return {options, [](const json& settings) { parsed(settings); }, run, format};
}

}  // namespace piddm
