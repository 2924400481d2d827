#include "piddm/lab/figure_jensen.h"

#include "piddm/core/json_text.h"
#include "piddm/core/table.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/safetensors.h"
#include "piddm/lab/distance.h"
#include "piddm/lab/histogram.h"
#include "piddm/lab/mixture_network.h"
#include "piddm/lab/toy_samplers.h"
#include "piddm/recipe/recipe.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

struct Options {
  int64_t seed = 0;
  int64_t samples = 2000;
  int64_t times = 50;
  int64_t steps = 100;
  double weight = 0.035;
  std::vector<double> weights = {0, 3.5e-4, 3.5e-3, 0.035, 0.35};
  double spread = 0.2;
  double t_end = 1e-3;

  template <class V>
  void fields(V&& f) {
    f("seed", seed, "seed of every random number");
    f("samples", samples, "samples a process and weight, half of them for each z; an even number");
    f("times", times, "times at which velocities are compared");
    f("steps", steps, "Euler steps");
    f("weight", weight, "weight of the guidance a step, for the velocity errors and the histograms");
    f("weights", weights, "weights a step compared in the table");
    f("spread", spread, "standard deviation of x_1 given z");
    f("t_end", t_end, "where sampling stops");
  }
};

GaussianMixture two_lines(double spread) {
  const auto flat = torch::diag(torch::tensor({spread * spread, 0.0}, torch::kFloat64));
  return GaussianMixture(
      {{1, torch::tensor({-1.0, -1.0}, torch::kFloat64), flat}, {1, torch::tensor({1.0, 1.0}, torch::kFloat64), flat}});
}

/// One process: its velocity errors and its samples. The first half of every batch has z = -1, the second z = 1.
class Bench {
 public:
  Bench(const Options& o, const std::string& process, torch::Device device)
      : o_(o),
        process_(process_registry().at(process)()),
        law_(two_lines(o.spread)),
        network_(law_, process_),
        device_(device) {
    const auto half = torch::ones({o.samples / 2}, torch::kFloat64);
    z_ = torch::cat({-half, half}).to(device);
  }

  json velocity_errors() {
    json out;
    for (int64_t i = 0; i < o_.times; ++i) {
      const double t = 1 - (1 - o_.t_end) * static_cast<double>(i) / static_cast<double>(o_.times - 1);
      const auto time = torch::full({1}, t, z_.options());
      const auto x = process_->diffuse(true_samples(), gaussian(Stream::noise, i), time);
      const auto truth = conditional_velocity(x, time);
      const auto guided = guided_velocity(network_, *process_, loss(), guidance(o_.weight).per_time(), x, time);
      const auto error = (guided - truth).abs().flatten(1);
      const auto cosine = torch::cosine_similarity(guided.flatten(1), truth.flatten(1), 1);
      out["t"].push_back(t);
      out["absolute"].push_back(error.mean().item<double>());
      out["absolute_free"].push_back(error.select(1, 0).mean().item<double>());
      out["absolute_constrained"].push_back(error.select(1, 1).mean().item<double>());
      out["angular"].push_back((1 - cosine).mean().item<double>());
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
    return integrate_euler(field, gaussian(Stream::latents, 0), o_.steps, o_.t_end).flatten(1);
  }

  json judge(const Tensor& x) const {
    const auto free = x.select(1, 0) * z_, constrained = x.select(1, 1) * z_;
    const auto exact = law_.component(1).marginal(torch::tensor({1.0, 0.0}, torch::kFloat64));
    return {
        {"wrong_side", (constrained < 0).to(torch::kFloat64).mean().item<double>()},
        {"w1_free", wasserstein(free, exact)},
        {"w1_constrained", (constrained - 1).abs().mean().item<double>()},
        {"mean_free", free.mean().item<double>()},
        {"std_free", free.std().item<double>()},
        {"std_constrained", constrained.std().item<double>()},
        {"w1_free_marginal", wasserstein(x.select(1, 0), law_.marginal(torch::tensor({1.0, 0.0}, torch::kFloat64)))}};
  }

 private:
  ToyGuidance guidance(double weight) const {
    return {.steps = o_.steps, .weight = weight, .unit = GuidanceUnit::per_step, .t_end = o_.t_end};
  }

  SampleLoss loss() const {
    return [z = z_](const Tensor& x0) { return (x0.flatten(1).select(1, 1) - z).square(); };
  }

  Tensor gaussian(Stream stream, int64_t block) const {
    return normal(static_cast<uint64_t>(o_.seed), stream, block * o_.samples, o_.samples, {2, 1, 1}, torch::kFloat64)
        .to(device_);
  }

  Tensor true_samples() const {
    const int64_t half = o_.samples / 2;
    const auto draw = [&](int64_t k) {
      return law_.component(k).sample(static_cast<uint64_t>(o_.seed), Stream::coefficients, k * half, half);
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

void run_process(const Options& o, const std::string& process, torch::Device device, const fs::path& folder) {
  Bench bench(o, process, device);
  const auto conditional = bench.conditional_samples();
  json report = {{"errors", bench.velocity_errors()}, {"conditional", bench.judge(conditional)}};
  TensorMap samples{{"conditional", conditional.cpu()}, {"guided", bench.guided_samples(o.weight).cpu()}};
  for (const double weight : o.weights) {
    json row = {{"weight", weight}};
    row.update(bench.judge(weight == o.weight ? samples.at("guided").to(device) : bench.guided_samples(weight)));
    report["guided"].push_back(row);
  }
  write_safetensors(folder / "samples.safetensors", samples);
  write_file_atomically(folder / "result.json", report.dump(2) + "\n");
}

void write_curves(const json& processes, const fs::path& csv) {
  const std::vector<std::string> columns = {"t", "absolute", "absolute_free", "absolute_constrained", "angular"};
  auto header = columns;
  header.insert(header.begin(), "process");
  Table table(header);
  for (const auto& [name, result] : processes.items()) {
    const auto& errors = result.at("errors");
    for (size_t i = 0; i < errors.at("t").size(); ++i) {
      std::vector<std::string> row = {name};
      for (const auto& column : columns) row.push_back(fmt::format("{:.9g}", errors.at(column)[i].get<double>()));
      table.add_row(row);
    }
  }
  write_file_atomically(csv, table.csv());
}

/// Where the absolute error is largest, and what is left of it at the end.
json peak_of(const json& errors) {
  const auto values = errors.at("absolute").get<std::vector<double>>();
  const auto top = std::max_element(values.begin(), values.end());
  return {{"t", errors.at("t")[static_cast<size_t>(top - values.begin())]},
          {"absolute", *top},
          {"at_start", values.front()},
          {"at_end", values.back()}};
}

Canvas error_chart(const json& processes, const std::string& key, const std::string& title, const std::string& label) {
  std::vector<Curve> curves;
  for (const auto& [name, result] : processes.items())
    curves.push_back({name, result.at("errors").at("t").get<std::vector<double>>(),
                      result.at("errors").at(key).get<std::vector<double>>()});
  return line_chart(curves, title, "t (1 is noise)", label);
}

Canvas histogram_chart(const std::vector<std::pair<std::string, TensorMap>>& samples, int64_t coordinate,
                       const std::string& title, const std::string& label) {
  const HistogramRange range{-1.8, 1.8, 120};
  std::vector<Curve> curves = {
      histogram_curve("exact conditional", samples.front().second.at("conditional").select(1, coordinate), range)};
  for (const auto& [name, x] : samples)
    curves.push_back(histogram_curve("DPS " + name, x.at("guided").select(1, coordinate), range));
  return line_chart(curves, title, label, "density");
}

json run(const json& settings, const fs::path& out, torch::Device device) {
  Options o;
  read_fields(settings, o);
  require<UsageError>(o.samples >= 2 && o.samples % 2 == 0 && o.times >= 2 && o.seed >= 0,
                      "figure-jensen: samples must be even, times at least 2, the seed not negative");
  Recipe recipe(out);
  json report;
  std::vector<std::pair<std::string, TensorMap>> samples;
  for (const auto& process : process_registry().names()) {
    json settings_here = write_fields(o);
    settings_here["process"] = process;
    const auto step = recipe.step("jensen " + process, settings_here, {},
                                  [&](const fs::path& folder) { run_process(o, process, device, folder); });
    auto& result = report["processes"][process];
    result = parse_json(read_file(step.folder / "result.json", 1 << 24), "result.json");
    result["peak"] = peak_of(result.at("errors"));
    samples.emplace_back(process, read_safetensors(step.folder / "samples.safetensors").tensors);
  }
  const auto& processes = report["processes"];
  write_curves(processes, out / "velocity-errors.csv");
  arrange_pictures({error_chart(processes, "absolute", "velocity error of DPS", "mean |v_DPS - v_GT|"),
                    error_chart(processes, "angular", "angular error of DPS", "1 - cos"),
                    histogram_chart(samples, 0, "free coordinate", "x_1"),
                    histogram_chart(samples, 1, "constrained coordinate", "x_2")},
                   2)
      .write_png(out / "figure-jensen.png");
  const auto free = two_lines(o.spread).component(1).marginal(torch::tensor({1.0, 0.0}, torch::kFloat64));
  report["floor"] = {{"w1_free", wasserstein_floor(free, o.samples, static_cast<uint64_t>(o.seed))}};
  return report;
}

std::string format(const json& report) {
  Table peaks({"process", "error at t=1", "largest error", "at t", "error at the end"});
  Table table({"process", "weight a step", "wrong side", "W1 free", "std free", "W1 constrained", "std constrained"});
  const auto cell = [](const json& row, const char* key) { return format_number(row.at(key).get<double>()); };
  const auto add = [&](const std::string& process, const std::string& weight, const json& row) {
    table.add_row({process, weight, cell(row, "wrong_side"), cell(row, "w1_free"), cell(row, "std_free"),
                   cell(row, "w1_constrained"), cell(row, "std_constrained")});
  };
  for (const auto& [name, result] : report.at("processes").items()) {
    const auto& peak = result.at("peak");
    peaks.add_row({name, cell(peak, "at_start"), cell(peak, "absolute"), cell(peak, "t"), cell(peak, "at_end")});
    add(name, "exact conditional", result.at("conditional"));
    for (const auto& row : result.at("guided")) add(name, cell(row, "weight"), row);
  }
  return "Velocity of DPS against the exact conditional one, mean absolute error a coordinate\n\n" + peaks.markdown() +
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
  return {options, run, format};
}

}  // namespace piddm
