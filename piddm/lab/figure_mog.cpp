#include "piddm/lab/figure_mog.h"

#include "piddm/core/table.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"
#include "piddm/files/safetensors.h"
#include "piddm/lab/distance.h"
#include "piddm/lab/histogram.h"
#include "piddm/lab/mixture_network.h"
#include "piddm/lab/toy_distillation.h"
#include "piddm/model/weights.h"
#include "piddm/plot/picture_file.h"
#include "piddm/recipe/recipe.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr double kVariance = 0.04, kCorrelation = 0.99999;  // of the coordinates of a component
constexpr double kWeight = 300;                             // of DPS's guidance
constexpr int64_t kTeacherSteps = 100;                      // Euler steps of the teacher that makes the pairs
const LbfgsOptions kRefine = {.iterations = 80, .learning_rate = 3e-3, .tolerance_grad = 1e-7};
constexpr double kLambdaTrain = 1, kLambdaInfer = 1;  // weights of F in the distillation and the refinement
const MlpOptions kStudent = {.time = false};

struct Options {
  uint64_t seed = 0;
  int64_t samples = 4000;
  int64_t steps = 1000;
  int64_t pairs = 50000;
  int64_t train_steps = 10000;

  template <class V>
  void fields(V&& f) {
    f("seed", seed, kSeeds, "seed of every random number");
    f("samples", samples, count_from(2, 1e7), "samples of each method");
    f("steps", steps, count_from(1), "Euler steps of DPS and ECI");
    f("pairs", pairs, count_from(1, 1e7), "noise-data pairs");
    f("train_steps", train_steps, count_from(1), "training steps of the student");
  }

  static std::vector<FormerKey> former_keys() {
    std::vector<FormerKey> out = {{"train", "train_steps", "the rest of the training is constant"}};
    for (const char* key :
         {"variance", "rho", "weight", "teacher_steps", "lambda_train", "lambda_infer", "refine", "student"})
      out.push_back({key, "", "it is a constant of figure_mog.cpp"});
    return out;
  }

  TrainOptions train() const {
    TrainOptions out;
    out.steps = train_steps;
    out.batch = 2048;
    out.adam = {.lr = 1e-3, .clip = 0, .ema = 0};
    out.schedule = ScheduleKind::constant;
    out.log_every = 100;
    return out;
  }
};

/// Samples of a method against the law, and the work per sample.
struct MethodRow {
  std::string method;
  double std_difference = 0, max_difference = 0, w1_difference = 0, w1_x0 = 0, std_component = 0, nfe = 0, backward = 0;

  template <class V>
  void fields(V&& f) {
    f("method", method, "name of the row");
    f("std_difference", std_difference, "standard deviation of x_0 - x_1");
    f("max_difference", max_difference, "largest |x_0 - x_1|");
    f("w1_difference", w1_difference, "W1 of x_0 - x_1 from its law");
    f("w1_x0", w1_x0, "W1 of x_0 from its law");
    f("std_component", std_component, "standard deviation of |x_0| - 1: within a mode");
    f("nfe", nfe, "network evaluations per sample");
    f("backward", backward, "backward passes per sample");
  }

  std::vector<double> numbers() const {
    return {std_difference, max_difference, w1_difference, w1_x0, std_component, nfe, backward};
  }
};

Tensor vector(double a, double b) { return torch::tensor({a, b}, torch::kFloat64); }

GaussianMixture correlated() {
  const auto covariance = kVariance * torch::stack({vector(1, kCorrelation), vector(kCorrelation, 1)});
  return GaussianMixture({{1, vector(-1, -1), covariance}, {1, vector(1, 1), covariance}});
}

Tensor difference(const Tensor& x) {
  const auto flat = x.flatten(1);
  return flat.select(1, 0) - flat.select(1, 1);
}

Tensor constraint(const Tensor& x) { return difference(x).square(); }

/// Both coordinates replaced by their mean.
Tensor on_diagonal(const Tensor& x) { return x.mean(1, true).expand_as(x); }

class Mog {
 public:
  Mog(const Options& o, const fs::path& out, torch::Device device)
      : o_(o),
        recipe_(out),
        device_(device),
        law_(correlated()),
        process_(process_registry().at("linear")()),
        network_(law_, process_),
        first_(law_.marginal(vector(1, 0))),
        difference_(law_.marginal(vector(1, -1))) {}

  json run() {
    const auto pairs = pairs_step();
    const auto plain = student_step("plain", 0, pairs), physical = student_step("constrained", kLambdaTrain, pairs);
    const auto step = recipe_.step("mog samples", sampling_settings(), {plain, physical}, [&](const fs::path& folder) {
      sample_rivals();
      sample_students(plain, physical);
      write_safetensors(folder / "samples.safetensors", samples_);
      write_json_file(folder / "rows.json", result_format(), {{"rows", rows_json()}});
    });
    rows_.clear();
    of_step(step.folder, [&] {
      const auto stored = read_json_file(step.folder / "rows.json", result_format());
      for (const auto& entry : stored.at("rows")) read_fields(entry, rows_.emplace_back());
      samples_ = read_safetensors(step.folder / "samples.safetensors").tensors;
    });
    draw();
    const auto seed = o_.seed;
    return {{"rows", rows_json()},
            {"law", {{"std_difference", std::sqrt(difference_.covariances()[0].item<double>())}}},
            {"floor",
             {{"w1_x0", wasserstein_floor(first_, o_.samples, seed)},
              {"w1_difference", wasserstein_floor(difference_, o_.samples, seed)}}}};
  }

 private:
  json rows_json() const {
    json out = json::array();
    for (const auto& row : rows_) out.push_back(write_fields(row));
    return out;
  }

  json sampling_settings() const {
    json settings = write_fields(o_);
    settings.erase("train_steps");
    return settings;
  }

  Tensor noise(Stream stream, int64_t n) const {
    return normal(o_.seed, stream, 0, n, {2, 1, 1}, torch::kFloat64).to(device_);
  }

  Tensor teacher(const Tensor& e, int64_t steps, double t_end = 0) {
    torch::NoGradGuard no_grad;
    return integrate_euler([&](const Tensor& x, const Tensor& t) { return network_(x, t); }, e, steps, t_end);
  }

  StepResult pairs_step() {
    const json settings = {{"seed", o_.seed},
                           {"pairs", o_.pairs},
                           {"steps", kTeacherSteps},
                           {"variance", kVariance},
                           {"rho", kCorrelation}};
    return recipe_.step("mog pairs", settings, {}, [&](const fs::path& folder) {
      const auto e = noise(Stream::pairs, o_.pairs);
      const auto x = teacher(e, kTeacherSteps);
      write_safetensors(folder / "pairs.safetensors",
                        {{"latents", e.to(torch::kFloat32).cpu()}, {"targets", x.to(torch::kFloat32).cpu()}});
    });
  }

  StepResult student_step(const std::string& name, double lambda, const StepResult& pairs) {
    const json settings = {{"seed", o_.seed},
                           {"lambda", lambda},
                           {"student", write_fields(kStudent)},
                           {"train", write_fields(o_.train())},
                           {"threads", at::get_num_threads()}};
    return recipe_.step("mog student " + name, settings, {pairs}, [&](const fs::path& folder) {
      const auto data = read_safetensors(pairs.folder / "pairs.safetensors").tensors;
      Mlp student(kStudent, o_.seed);
      student.to(device_);
      ToyDistillation objective(student, data.at("latents").to(device_), data.at("targets").to(device_), constraint,
                                lambda, o_.train().batch, o_.seed);
      distill_toy(student, objective, o_.train(), folder / "run", "student " + name);
      write_safetensors(folder / "student.safetensors", weights_of(student));
    });
  }

  /// After an optimisation the last output evaluation is not counted.
  void add(const std::string& name, Network& network, const std::function<Tensor(const Tensor& e)>& method,
           bool optimised = false) {
    const WorkMeter meter(network);
    const auto x = method(noise(Stream::latents, o_.samples)).detach().to(torch::kCPU, torch::kFloat64).flatten(1);
    const auto spent = meter.spent();
    const auto d = difference(x);
    const double n = static_cast<double>(o_.samples);
    rows_.push_back({.method = name,
                     .std_difference = d.std().item<double>(),
                     .max_difference = d.abs().max().item<double>(),
                     .w1_difference = wasserstein(d, difference_),
                     .w1_x0 = wasserstein(x.select(1, 0), first_),
                     .std_component = (x.select(1, 0).abs() - 1).std().item<double>(),
                     .nfe = static_cast<double>(spent.forward) / n - (optimised ? 1 : 0),
                     .backward = static_cast<double>(spent.backward) / n});
    samples_[name] = x;
  }

  void add_guided(const std::string& name, GuidanceUnit unit, double t_end) {
    const ToyGuidance guidance{.steps = o_.steps, .weight = kWeight, .unit = unit, .t_end = t_end};
    add(name, network_, [&](const Tensor& e) { return sample_guided(network_, *process_, constraint, guidance, e); });
  }

  void sample_rivals() {
    add("law", network_, [&](const Tensor&) { return law_.sample(o_.seed, Stream::coefficients, 0, o_.samples); });
    for (const auto& [steps, t_end] :
         std::vector<std::pair<int64_t, double>>{{kTeacherSteps, 0.0}, {o_.steps, 0.0}, {o_.steps, 1e-3}})
      add(fmt::format("teacher, {} steps{}", steps, t_end > 0 ? " to 1e-3" : ""), network_,
          [&, steps = steps, t_end = t_end](const Tensor& e) { return teacher(e, steps, t_end); });
    add_guided("dps per time", GuidanceUnit::per_time, 0);
    add_guided("dps per time to 1e-3", GuidanceUnit::per_time, 1e-3);
    add_guided("dps per step", GuidanceUnit::per_step, 0);
    add_guided("dps per step to 1e-3", GuidanceUnit::per_step, 1e-3);
    for (const auto mode : {ToyEciNoise::fixed, ToyEciNoise::resample, ToyEciNoise::ddim})
      add("eci " + enum_names(mode).at(static_cast<size_t>(mode)), network_,
          [&](const Tensor& e) { return sample_eci(network_, *process_, on_diagonal, mode, o_.steps, e, o_.seed); });
  }

  void sample_students(const StepResult& plain, const StepResult& physical) {
    Mlp student(kStudent, 0);
    student.to(device_);
    const auto one_step = [&](const Tensor& e) { return student_output(student, e.to(torch::kFloat32)); };
    load(student, plain);
    add("distilled", student, one_step);
    load(student, physical);
    add("piddm-1", student, one_step);
    add(
        "piddm-ref", student,
        [&](const Tensor& e) {
          const auto refined = refine_latents(student, constraint, kLambdaInfer, kRefine, e.to(torch::kFloat32));
          return student_output(student, refined);
        },
        true);
  }

  static void load(Mlp& student, const StepResult& step) {
    const auto file = step.folder / "student.safetensors";
    load_weights(student, read_safetensors(file).tensors, file.string());
  }

  LineChart chart(const std::string& title, const std::string& label, const HistogramRange& range,
                  const std::vector<std::string>& names, const std::function<Tensor(const Tensor&)>& value) const {
    std::vector<Curve> curves;
    for (const auto& name : names) curves.push_back(histogram_curve(name, value(samples_.at(name)), range));
    return {.title = title, .x_label = label, .y_label = "density", .curves = std::move(curves)};
  }

  void draw() const {
    const auto first = [](const Tensor& x) { return x.select(1, 0); };
    const std::vector<std::string> main = {"law", "dps per time to 1e-3", "eci fixed", "eci resample", "piddm-ref"};
    const std::vector<std::string> spread = {"law", "dps per time", "dps per time to 1e-3", "piddm-1", "piddm-ref"};
    write_sheet(in_rows("Samples of a mixture on the diagonal",
                        {chart("First coordinate", "x_0", {-2.2, 2.2, 88}, main, first),
                         chart("Deviation from the constraint", "x_0 - x_1", {-5e-3, 5e-3, 100}, spread, difference)},
                        2),
                recipe_.root(), "figure-mog");
    Table table(
        {"method", "std_difference", "max_difference", "w1_difference", "w1_x0", "std_component", "nfe", "backward"});
    for (const auto& row : rows_) {
      std::vector<std::string> cells = {row.method};
      for (const double value : row.numbers()) cells.push_back(fmt::format("{:.9g}", value));
      table.add_row(cells);
    }
    write_file_atomically(recipe_.root() / "methods.csv", table.csv());
  }

  Options o_;
  Recipe recipe_;
  torch::Device device_;
  GaussianMixture law_;
  ProcessPtr process_;
  MixtureNetwork network_;
  GaussianMixture first_, difference_;  // laws of x_0 and of x_0 - x_1
  std::vector<MethodRow> rows_;
  TensorMap samples_;
};

Options parsed(const json& settings) {
  Options o;
  read_fields(settings, o);
  return o;
}

json run(const json& settings, const fs::path& out, torch::Device device) {
  const auto o = parsed(settings);
  return Mog(o, out, device).run();
}

std::string format(const json& report) {
  Table table({"method", "std(x0-x1)", "max|x0-x1|", "W1(x0-x1)", "W1(x0)", "std in a mode", "NFE", "backward"});
  for (const auto& entry : report.at("rows")) {
    MethodRow row;
    read_fields(entry, row);
    std::vector<std::string> cells = {row.method};
    for (const double value : row.numbers()) cells.push_back(format_number(value));
    table.add_row(cells);
  }
  return table.markdown() +
         fmt::format(
             "\nThe law: std(x0-x1) {}, std in a mode 0.2. W1 of true samples (95th percentile): x0-x1 {}, x0 {}\n",
             format_number(report.at("law").at("std_difference").get<double>()),
             format_number(report.at("floor").at("w1_difference").get<double>()),
             format_number(report.at("floor").at("w1_x0").get<double>()));
}

}  // namespace

LabRecipe figure_mog() {
  const auto options = [](Scale scale) {
    Options o;
    o.samples = scale == Scale::smoke ? 2000 : scale == Scale::small ? 10000 : 50000;
    o.train_steps = scale == Scale::smoke ? 2500 : scale == Scale::small ? 10000 : 25000;
    return write_fields(o);
  };
  return {options, [](const json& settings) { parsed(settings); }, run, format};
}

}  // namespace piddm
