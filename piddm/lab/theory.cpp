#include "piddm/lab/theory.h"

#include <cmath>

#include "piddm/core/table.h"
#include "piddm/eval/metrics.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"
#include "piddm/numerics/lbfgs.h"
#include "piddm/plot/picture_file.h"
#include "piddm/process/gaussian_mixture.h"
#include "piddm/recipe/recipe.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

const std::vector<double> kEigenvalues = {1, 0.5, 0.25, 0};  // variances of the data; the last is the constraint's
const std::vector<double> kNoiseLevels = {0.5, 0.1, 0.01, 0.001};  // sigma_t^2 at which the score is learned
const std::vector<double> kGammas = {0.1, 1, 10, 100};             // strengths of the guidance
const std::vector<double> kLambdas = {0, 0.1, 1, 10, 100};         // weights of the constraint in the distillation
constexpr int64_t kData = 10000;                                   // training samples of the score
constexpr double kEta = 0.25;                                      // step of the gradient descent
constexpr double kBeta = 10;          // rate of the variance-preserving process in time [0,1]
constexpr double kLearned = 100;      // gradient steps of the teacher that is distilled
constexpr int64_t kEulerSteps = 100;  // of the teachers

struct Options {
  uint64_t seed = 0;
  int64_t iterations = 10000;
  int64_t pairs = 20000;

  template <class V>
  void fields(V&& f) {
    f("seed", seed, kSeeds, "seed of every random number");
    f("iterations", iterations, count_from(1), "gradient steps of the learned score");
    f("pairs", pairs, count_from(2, 1e7), "noise-data pairs; as many again check the formula");
  }

  static std::vector<FormerKey> former_keys() {
    std::vector<FormerKey> out;
    for (const char* key :
         {"eigenvalues", "data", "eta", "noise_levels", "gammas", "beta", "learned", "euler_steps", "lambdas"})
      out.push_back({key, "", "it is a constant of theory.cpp"});
    return out;
  }
};

/// Gradient descent on the score: the last coefficient at some steps, one list per noise level.
struct LearnedScores {
  std::vector<double> steps;
  std::vector<std::vector<double>> theta, distance;
  double largest_deviation = 0;

  template <class V>
  void fields(V&& f) {
    f("steps", steps, "gradient steps that are recorded");
    f("theta", theta, "the constrained coefficient");
    f("distance", distance, "|theta - theta*| / |theta*|");
    f("largest_deviation", largest_deviation, "from the closed form, over |theta*|, all coordinates and steps");
  }
};

/// The guided coefficient of the constrained coordinate.
struct GuidedScore {
  double sigma2 = 0, gamma = 0, optimum = 0, theta = 0, corrected = 0, measured = 0, printed = 0,
         corrected_at_optimum = 0, printed_at_optimum = 0;

  template <class V>
  void fields(V&& f) {
    f("sigma2", sigma2, "noise level");
    f("gamma", gamma, "strength of the guidance");
    f("optimum", optimum, "theta*");
    f("theta", theta, "the learned coefficient");
    f("corrected", corrected, "theta_g with the posterior mean");
    f("measured", measured, "theta_g of guided vectors");
    f("printed", printed, "theta_g as the paper prints it");
    f("corrected_at_optimum", corrected_at_optimum, "theta_g of theta*");
    f("printed_at_optimum", printed_at_optimum, "the printed theta_g of theta*");
  }

  std::vector<double> numbers() const {
    return {sigma2, gamma, optimum, theta, corrected, measured, printed, corrected_at_optimum, printed_at_optimum};
  }
};

/// The distilled minimiser for one weight of the constraint.
struct Distilled {
  double lambda = 0;
  std::vector<double> simulated, formula, half_width;
  double largest_z = 0, energy = 0, bound = 0;

  template <class V>
  void fields(V&& f) {
    f("lambda", lambda, "weight of the constraint");
    f("simulated", simulated, "w on simulated pairs");
    f("formula", formula, "w by the theorem, from other pairs");
    f("half_width", half_width, "95 % bounds of their difference");
    f("largest_z", largest_z, "largest difference in standard errors");
    f("energy", energy, "E(w_d e_d)^2");
    f("bound", bound, "E[x^_d^2] / (1 + lambda)^2");
  }
};

struct DistilledByTeacher {
  std::vector<Distilled> learned, mixture;

  template <class V>
  void fields(V&& f) {
    f("learned", learned, "teacher: the Euler flow of the learned score");
    f("mixture", mixture, "teacher: the exact score of a mixture, stopped early");
  }
};

struct TheoryResult {
  LearnedScores scores;
  std::vector<GuidedScore> guidance;
  DistilledByTeacher distillation;

  template <class V>
  void fields(V&& f) {
    f("scores", scores, "first theorem, learning");
    f("guidance", guidance, "first theorem, guidance");
    f("distillation", distillation, "second theorem");
  }
};

Tensor row(const std::vector<double>& values) { return torch::tensor(values, torch::kFloat64); }

/// Second moments of the training data, [d].
Tensor empirical_variances(const Options& o) {
  const auto z =
      normal(o.seed, Stream::coefficients, 0, kData, {static_cast<int64_t>(kEigenvalues.size())}, torch::kFloat64);
  return (z.square() * row(kEigenvalues)).mean(0);
}

/// theta after `steps` gradient steps by the closed form; `rate` = alpha^2 l + sigma^2.
Tensor closed_form(const Tensor& rate, double steps) {
  return -1 / rate + (1 - 2 * kEta * rate).pow(steps) * (1 + 1 / rate);
}

void record(LearnedScores& out, int64_t step, const Tensor& theta) {
  out.steps.push_back(static_cast<double>(step));
  for (size_t i = 0; i < kNoiseLevels.size(); ++i) {
    const double value = theta[static_cast<int64_t>(i)][-1].item<double>(), optimum = -1 / kNoiseLevels[i];
    out.theta[i].push_back(value);
    out.distance[i].push_back(std::abs(value - optimum) / std::abs(optimum));
  }
}

LearnedScores learn_scores(const Options& o) {
  const auto sigma2 = row(kNoiseLevels).unsqueeze(1), alpha2 = 1 - sigma2, sigma = sigma2.sqrt();
  const auto variances = empirical_variances(o), rate = alpha2 * variances + sigma2;
  auto theta = torch::ones_like(rate);
  LearnedScores out;
  out.theta.resize(kNoiseLevels.size());
  out.distance.resize(kNoiseLevels.size());
  int64_t next = 1;
  for (int64_t step = 0; step <= o.iterations; ++step) {
    const auto exact = closed_form(rate, static_cast<double>(step));
    out.largest_deviation = std::max(out.largest_deviation, ((theta - exact) * rate).abs().max().item<double>());
    if (step == next || step == 0) {
      record(out, step, theta);
      next = std::max(next, static_cast<int64_t>(std::ceil(static_cast<double>(step) * 1.3)) + 1);
    }
    const auto leaf = theta.detach().requires_grad_(true);
    const auto loss = (alpha2 * variances * leaf.square() + (sigma * leaf + 1 / sigma).square()).sum();
    theta = (leaf - kEta * torch::autograd::grad({loss}, {leaf})[0]).detach();
  }
  return out;
}

/// The last coordinate of the guided score of random vectors divided by theirs, with x0^ = (x + sigma^2 s) / alpha.
double measured_guidance(double theta, double alpha, double sigma2, double gamma, uint64_t seed) {
  const auto x = normal(seed, Stream::latents, 0, 100, {}, torch::kFloat64);
  const auto score = theta * x;
  const auto guided = score - gamma * ((x + sigma2 * score) / alpha);
  return (guided / x).mean().item<double>();
}

std::vector<GuidedScore> guide_scores(const Options& o) {
  std::vector<GuidedScore> rows;
  for (const double sigma2 : kNoiseLevels)
    for (const double gamma : kGammas) {
      const double alpha = std::sqrt(1 - sigma2), sigma = std::sqrt(sigma2), optimum = -1 / sigma2;
      const double theta = closed_form(row({sigma2}), kLearned).item<double>();
      const auto corrected = [&](double at) { return at - gamma / alpha * (1 + sigma2 * at); };
      const auto printed = [&](double at) { return (1 + gamma * sigma / alpha) * at - gamma / alpha; };
      rows.push_back({.sigma2 = sigma2,
                      .gamma = gamma,
                      .optimum = optimum,
                      .theta = theta,
                      .corrected = corrected(theta),
                      .measured = measured_guidance(theta, alpha, sigma2, gamma, o.seed),
                      .printed = printed(theta),
                      .corrected_at_optimum = corrected(optimum),
                      .printed_at_optimum = printed(optimum)});
    }
  return rows;
}

/// Noise and what the teacher makes of it, both [n,d].
struct TeacherPairs {
  Tensor e, x;
};

using Teacher = std::function<TeacherPairs(int64_t first, int64_t n)>;

TeacherPairs integrate_pairs(const Options& o, const VelocityField& v, double t_end, int64_t d, int64_t first,
                             int64_t n) {
  const auto e = normal(o.seed, Stream::pairs, first, n, {d, 1, 1}, torch::kFloat64);
  return {e.flatten(1), integrate_euler(v, e, kEulerSteps, t_end).flatten(1)};
}

Teacher learned_teacher(const Options& o) {
  const auto variances = empirical_variances(o).view({1, -1, 1, 1});
  const VelocityField v = [variances](const Tensor& x, const Tensor& t) {
    const auto alpha2 = torch::exp(-kBeta * t).view({1, 1, 1, 1});
    const auto theta = closed_form(alpha2 * variances + 1 - alpha2, kLearned);
    return -kBeta / 2 * (1 + theta) * x;
  };
  const auto d = static_cast<int64_t>(kEigenvalues.size());
  return [o, v, d](int64_t first, int64_t n) { return integrate_pairs(o, v, 1e-3, d, first, n); };
}

Teacher mixture_teacher(const Options& o) {
  const auto flat = torch::diag(row({0.04, 0}));
  const GaussianMixture law({{1, row({-1, 0}), flat}, {1, row({1, 0}), flat}});
  const auto v = law.field(process_registry().at("linear")());
  return [o, v](int64_t first, int64_t n) { return integrate_pairs(o, v, 0.05, 2, first, n); };
}

/// argmin over w of the distillation loss on these pairs, [d]. `shrink` is 1 but for the last entry, 1 + lambda.
Tensor minimize_distillation(const TeacherPairs& pairs, const Tensor& shrink) {
  const auto loss = [&](const Tensor& w) {
    const auto student = w * pairs.e;
    const auto penalty = (shrink - 1) * student.square();
    return ((student - pairs.x).square() + penalty).mean(0).sum().unsqueeze(0);
  };
  const LbfgsOptions options{.iterations = 200, .tolerance_grad = 1e-13, .tolerance_change = 0};
  return minimize_lbfgs(with_gradient(loss), torch::zeros({1, pairs.e.size(1)}, torch::kFloat64), options).x[0];
}

std::vector<Distilled> distil(const Options& o, const Teacher& teacher) {
  torch::NoGradGuard no_grad;
  const auto train = teacher(0, o.pairs), check = teacher(o.pairs, o.pairs);
  const double root = std::sqrt(static_cast<double>(o.pairs));
  std::vector<Distilled> rows;
  for (const double lambda : kLambdas) {
    auto shrink = torch::ones({train.e.size(1)}, torch::kFloat64);
    shrink[-1] = 1 + lambda;
    const auto w = minimize_distillation(train, shrink);
    const auto products = check.e * check.x;
    const auto formula = products.mean(0) / shrink;
    const auto score = train.e * train.x - shrink * w * train.e.square();
    const auto error = (products.var(0) + score.var(0)).sqrt() / root / shrink;
    const auto energy = (w[-1] * check.e.select(1, -1)).square().mean().item<double>();
    const auto bound = check.x.select(1, -1).square().mean().item<double>() / std::pow(1 + lambda, 2);
    rows.push_back({.lambda = lambda,
                    .simulated = to_vector(w),
                    .formula = to_vector(formula),
                    .half_width = to_vector(1.96 * error),
                    .largest_z = ((w - formula) / error).abs().max().item<double>(),
                    .energy = energy,
                    .bound = bound});
  }
  return rows;
}

/// Both teachers with their names.
std::vector<std::pair<std::string, const std::vector<Distilled>*>> teachers_of(const TheoryResult& result) {
  return {{"learned", &result.distillation.learned}, {"mixture", &result.distillation.mixture}};
}

void draw(const TheoryResult& result, const fs::path& out) {
  std::vector<Curve> learning, energies;
  for (size_t i = 0; i < kNoiseLevels.size(); ++i)
    learning.push_back(
        {fmt::format("sigma^2 = {:g}", kNoiseLevels[i]), result.scores.steps, result.scores.distance[i]});
  for (const auto& [name, rows] : teachers_of(result)) {
    Curve energy{name + ", energy"}, bound{name + ", bound"};
    for (const auto& r : *rows) {
      for (auto* curve : {&energy, &bound}) curve->x.push_back(1 + r.lambda);
      energy.y.push_back(r.energy);
      bound.y.push_back(r.bound);
    }
    energies.insert(energies.end(), {energy, bound});
  }
  write_sheet(in_rows("Theory and experiment",
                      {LineChart{.title = "Learning the constrained score",
                                 .x_label = "gradient step",
                                 .y_label = "|theta - theta*| / |theta*|",
                                 .curves = learning,
                                 .log_x = true,
                                 .log_y = true},
                       LineChart{.title = "Constraint energy of the student",
                                 .x_label = "1 + lambda",
                                 .y_label = "E (w_d e_d)^2",
                                 .curves = energies,
                                 .log_x = true,
                                 .log_y = true}},
                      2),
              out, "theory");
}

void write_tables(const LearnedScores& scores, const fs::path& out) {
  Table learning({"sigma2", "step", "theta_d", "distance"});
  const auto cell = [](double value) { return fmt::format("{:.12g}", value); };
  for (size_t i = 0; i < kNoiseLevels.size(); ++i)
    for (size_t k = 0; k < scores.steps.size(); ++k)
      learning.add_row({fmt::format("{:g}", kNoiseLevels[i]), cell(scores.steps[k]), cell(scores.theta[i][k]),
                        cell(scores.distance[i][k])});
  write_file_atomically(out / "scores.csv", learning.csv());
}

Options parsed(const json& settings) {
  Options o;
  read_fields(settings, o);
  return o;
}

json run(const json& settings, const fs::path& out, torch::Device) {
  const auto o = parsed(settings);
  Recipe recipe(out);
  const auto step = recipe.step("theory", write_fields(o), {}, [&](const fs::path& folder) {
    const TheoryResult result{
        learn_scores(o), guide_scores(o), {distil(o, learned_teacher(o)), distil(o, mixture_teacher(o))}};
    write_json_file(folder / "result.json", result_format(), write_fields(result));
  });
  const auto report =
      of_step(step.folder, [&] { return read_json_file(step.folder / "result.json", result_format()); });
  TheoryResult result;
  read_fields(report, result);
  write_tables(result.scores, out);
  draw(result, out);
  return report;
}

std::string format_guidance(const std::vector<GuidedScore>& rows) {
  Table table({"sigma^2", "gamma", "theta*", "theta", "corrected", "measured", "printed", "corrected at theta*",
               "printed at theta*"});
  for (const auto& r : rows) {
    std::vector<std::string> cells;
    for (const double value : r.numbers()) cells.push_back(format_number(value));
    table.add_row(cells);
  }
  return table.markdown();
}

std::string format_distillation(const TheoryResult& result) {
  Table table({"teacher", "lambda", "w_d simulated", "w_d formula", "+-", "w_1 simulated", "w_1 formula", "+-",
               "energy", "bound"});
  for (const auto& [name, rows] : teachers_of(result))
    for (const auto& r : *rows) {
      std::vector<std::string> cells = {name, format_number(r.lambda)};
      for (const bool last : {true, false})
        for (const auto* values : {&r.simulated, &r.formula, &r.half_width})
          cells.push_back(format_number(last ? values->back() : values->front()));
      for (const double value : {r.energy, r.bound}) cells.push_back(format_number(value));
      table.add_row(cells);
    }
  return table.markdown();
}

std::string format(const json& report) {
  json numbers = report;  // without what run_lab adds to every report
  for (const char* key : kLabKeys) numbers.erase(key);
  TheoryResult result;
  read_fields(numbers, result);
  return fmt::format(
      "Gradient descent against the closed form of theta: largest deviation {:.1e} |theta*| over all coordinates, "
      "levels and steps\n\nGuided coefficient of the constrained coordinate\n\n{}\nDistilled minimiser (95 % "
      "bounds)\n\n{}",
      result.scores.largest_deviation, format_guidance(result.guidance), format_distillation(result));
}

}  // namespace

LabRecipe theory() {
  const auto options = [](Scale scale) {
    Options o;
    o.pairs = scale == Scale::smoke ? 20000 : scale == Scale::small ? 100000 : 1000000;
    return write_fields(o);
  };
  return {options, [](const json& settings) { parsed(settings); }, run, format};
}

}  // namespace piddm
