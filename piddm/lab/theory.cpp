#include "piddm/lab/theory.h"

#include <cmath>

#include "piddm/core/json_text.h"
#include "piddm/core/table.h"
#include "piddm/files/atomic_file.h"
#include "piddm/numerics/lbfgs.h"
#include "piddm/plot/plot.h"
#include "piddm/process/gaussian_mixture.h"
#include "piddm/recipe/recipe.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

struct Options {
  int64_t seed = 0;
  std::vector<double> eigenvalues = {1, 0.5, 0.25, 0};
  int64_t data = 10000;
  double eta = 0.25;
  std::vector<double> noise_levels = {0.5, 0.1, 0.01, 0.001};
  int64_t iterations = 10000;
  std::vector<double> gammas = {0.1, 1, 10, 100};
  double beta = 10;
  int64_t learned = 100;
  int64_t euler_steps = 100;
  int64_t pairs = 20000;
  std::vector<double> lambdas = {0, 0.1, 1, 10, 100};

  template <class V>
  void fields(V&& f) {
    f("seed", seed, "seed of every random number");
    f("eigenvalues", eigenvalues, "variances of the data; the last must be 0");
    f("data", data, "training samples of the score");
    f("eta", eta, "step of the gradient descent");
    f("noise_levels", noise_levels, "sigma_t^2 at which the score is learned");
    f("iterations", iterations, "gradient steps");
    f("gammas", gammas, "strengths of the guidance");
    f("beta", beta, "rate of the variance-preserving process in time [0,1]");
    f("learned", learned, "gradient steps of the teacher that is distilled");
    f("euler_steps", euler_steps, "Euler steps of the teachers");
    f("pairs", pairs, "noise-data pairs, of which as many again check the formula");
    f("lambdas", lambdas, "weights of the constraint in the distillation");
  }
};

Tensor row(const std::vector<double>& values) { return torch::tensor(values, torch::kFloat64); }

/// Second moments of the training data, [d].
Tensor empirical_variances(const Options& o) {
  const auto z = normal(static_cast<uint64_t>(o.seed), Stream::coefficients, 0, o.data,
                        {static_cast<int64_t>(o.eigenvalues.size())}, torch::kFloat64);
  return (z.square() * row(o.eigenvalues)).mean(0);
}

/// theta after `steps` gradient steps by the closed form; `rate` = alpha^2 l + sigma^2.
Tensor closed_form(const Tensor& rate, double eta, double steps) {
  return -1 / rate + (1 - 2 * eta * rate).pow(steps) * (1 + 1 / rate);
}

json learn_scores(const Options& o) {
  const auto sigma2 = row(o.noise_levels).unsqueeze(1), alpha2 = 1 - sigma2, sigma = sigma2.sqrt();
  const auto variances = empirical_variances(o), rate = alpha2 * variances + sigma2;
  auto theta = torch::ones_like(rate);
  json out = {{"steps", json::array()}};
  double worst = 0;
  int64_t next = 1;
  for (int64_t step = 0; step <= o.iterations; ++step) {
    const auto exact = closed_form(rate, o.eta, static_cast<double>(step));
    worst = std::max(worst, ((theta - exact) * rate).abs().max().item<double>());
    if (step == next || step == 0) {
      out["steps"].push_back(step);
      for (size_t i = 0; i < o.noise_levels.size(); ++i) {
        const double value = theta[static_cast<int64_t>(i)][-1].item<double>(), optimum = -1 / o.noise_levels[i];
        out["theta"][i].push_back(value);
        out["distance"][i].push_back(std::abs(value - optimum) / std::abs(optimum));
      }
      next = std::max(next, static_cast<int64_t>(std::ceil(static_cast<double>(step) * 1.3)) + 1);
    }
    const auto leaf = theta.detach().requires_grad_(true);
    const auto loss = (alpha2 * variances * leaf.square() + (sigma * leaf + 1 / sigma).square()).sum();
    theta = (leaf - o.eta * torch::autograd::grad({loss}, {leaf})[0]).detach();
  }
  out["largest_deviation"] = worst;
  return out;
}

/// The last coordinate of the guided score of random vectors divided by theirs, with x0^ = (x + sigma^2 s) / alpha.
double measured_guidance(double theta, double alpha, double sigma2, double gamma, uint64_t seed) {
  const auto x = normal(seed, Stream::latents, 0, 100, {}, torch::kFloat64);
  const auto score = theta * x;
  const auto guided = score - gamma * ((x + sigma2 * score) / alpha);
  return (guided / x).mean().item<double>();
}

json guide_scores(const Options& o) {
  json rows = json::array();
  for (const double sigma2 : o.noise_levels)
    for (const double gamma : o.gammas) {
      const double alpha = std::sqrt(1 - sigma2), sigma = std::sqrt(sigma2), optimum = -1 / sigma2;
      const double theta = closed_form(row({sigma2}), o.eta, static_cast<double>(o.learned)).item<double>();
      const auto corrected = [&](double at) { return at - gamma / alpha * (1 + sigma2 * at); };
      const auto printed = [&](double at) { return (1 + gamma * sigma / alpha) * at - gamma / alpha; };
      rows.push_back({{"sigma2", sigma2},
                      {"gamma", gamma},
                      {"optimum", optimum},
                      {"theta", theta},
                      {"corrected", corrected(theta)},
                      {"measured", measured_guidance(theta, alpha, sigma2, gamma, static_cast<uint64_t>(o.seed))},
                      {"printed", printed(theta)},
                      {"corrected_at_optimum", corrected(optimum)},
                      {"printed_at_optimum", printed(optimum)}});
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
  const auto e = normal(static_cast<uint64_t>(o.seed), Stream::pairs, first, n, {d, 1, 1}, torch::kFloat64);
  return {e.flatten(1), integrate_euler(v, e, o.euler_steps, t_end).flatten(1)};
}

Teacher learned_teacher(const Options& o) {
  const auto variances = empirical_variances(o).view({1, -1, 1, 1});
  const VelocityField v = [o, variances](const Tensor& x, const Tensor& t) {
    const auto alpha2 = torch::exp(-o.beta * t).view({1, 1, 1, 1});
    const auto theta = closed_form(alpha2 * variances + 1 - alpha2, o.eta, static_cast<double>(o.learned));
    return -o.beta / 2 * (1 + theta) * x;
  };
  const auto d = static_cast<int64_t>(o.eigenvalues.size());
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

json entries(const Tensor& x) {
  const auto values = x.contiguous();
  return std::vector<double>(values.data_ptr<double>(), values.data_ptr<double>() + values.numel());
}

json distil(const Options& o, const Teacher& teacher) {
  torch::NoGradGuard no_grad;
  const auto train = teacher(0, o.pairs), check = teacher(o.pairs, o.pairs);
  const double root = std::sqrt(static_cast<double>(o.pairs));
  json rows = json::array();
  for (const double lambda : o.lambdas) {
    auto shrink = torch::ones({train.e.size(1)}, torch::kFloat64);
    shrink[-1] = 1 + lambda;
    const auto w = minimize_distillation(train, shrink);
    const auto products = check.e * check.x;
    const auto formula = products.mean(0) / shrink;
    const auto score = train.e * train.x - shrink * w * train.e.square();
    const auto error = (products.var(0) + score.var(0)).sqrt() / root / shrink;
    const auto energy = (w[-1] * check.e.select(1, -1)).square().mean().item<double>();
    const auto bound = check.x.select(1, -1).square().mean().item<double>() / std::pow(1 + lambda, 2);
    rows.push_back({{"lambda", lambda},
                    {"simulated", entries(w)},
                    {"formula", entries(formula)},
                    {"half_width", entries(1.96 * error)},
                    {"largest_z", ((w - formula) / error).abs().max().item<double>()},
                    {"energy", energy},
                    {"bound", bound}});
  }
  return rows;
}

void draw(const Options& o, const json& report, const fs::path& out) {
  std::vector<Curve> learning, energies;
  const auto& scores = report.at("scores");
  for (size_t i = 0; i < o.noise_levels.size(); ++i)
    learning.push_back({fmt::format("sigma^2 = {:g}", o.noise_levels[i]), scores.at("steps").get<std::vector<double>>(),
                        scores.at("distance")[i].get<std::vector<double>>()});
  for (const auto& [name, rows] : report.at("distillation").items())
    for (const char* key : {"energy", "bound"}) {
      Curve curve{name + ", " + key};
      for (const auto& r : rows) {
        curve.x.push_back(1 + r.at("lambda").get<double>());
        curve.y.push_back(r.at(key));
      }
      energies.push_back(curve);
    }
  arrange_pictures(
      {line_chart(learning, "learning the constrained score", "gradient step", "|theta - theta*| / |theta*|", true,
                  true),
       line_chart(energies, "constraint energy of the student", "1 + lambda", "E (w_d e_d)^2", true, true)},
      2)
      .write_png(out / "theory.png");
}

void write_tables(const Options& o, const json& report, const fs::path& out) {
  Table learning({"sigma2", "step", "theta_d", "distance"});
  const auto& scores = report.at("scores");
  const auto cell = [](const json& value) { return fmt::format("{:.12g}", value.get<double>()); };
  for (size_t i = 0; i < o.noise_levels.size(); ++i)
    for (size_t k = 0; k < scores.at("steps").size(); ++k)
      learning.add_row({fmt::format("{:g}", o.noise_levels[i]), cell(scores.at("steps")[k]),
                        cell(scores.at("theta")[i][k]), cell(scores.at("distance")[i][k])});
  write_file_atomically(out / "scores.csv", learning.csv());
}

json run(const json& settings, const fs::path& out, torch::Device) {
  Options o;
  read_fields(settings, o);
  require<UsageError>(o.seed >= 0 && !o.eigenvalues.empty() && o.eigenvalues.back() == 0,
                      "theory: the last eigenvalue must be 0 and the seed not negative");
  Recipe recipe(out);
  const auto step = recipe.step("theory", write_fields(o), {}, [&](const fs::path& folder) {
    const json result = {
        {"scores", learn_scores(o)},
        {"guidance", guide_scores(o)},
        {"distillation", {{"learned", distil(o, learned_teacher(o))}, {"mixture", distil(o, mixture_teacher(o))}}}};
    write_file_atomically(folder / "result.json", result.dump(2) + "\n");
  });
  const auto report = parse_json(read_file(step.folder / "result.json", 1 << 24), "result.json");
  write_tables(o, report, out);
  draw(o, report, out);
  return report;
}

std::string format_guidance(const json& report) {
  Table table({"sigma^2", "gamma", "theta*", "theta", "corrected", "measured", "printed", "corrected at theta*",
               "printed at theta*"});
  for (const auto& r : report.at("guidance")) {
    std::vector<std::string> cells;
    for (const char* key : {"sigma2", "gamma", "optimum", "theta", "corrected", "measured", "printed",
                            "corrected_at_optimum", "printed_at_optimum"})
      cells.push_back(format_number(r.at(key).get<double>()));
    table.add_row(cells);
  }
  return table.markdown();
}

std::string format_distillation(const json& report) {
  Table table({"teacher", "lambda", "w_d simulated", "w_d formula", "+-", "w_1 simulated", "w_1 formula", "+-",
               "energy", "bound"});
  for (const auto& [name, rows] : report.at("distillation").items())
    for (const auto& r : rows) {
      std::vector<std::string> cells = {name, format_number(r.at("lambda").get<double>())};
      for (const bool last : {true, false})
        for (const char* key : {"simulated", "formula", "half_width"})
          cells.push_back(format_number((last ? r.at(key).back() : r.at(key).front()).get<double>()));
      for (const char* key : {"energy", "bound"}) cells.push_back(format_number(r.at(key).get<double>()));
      table.add_row(cells);
    }
  return table.markdown();
}

std::string format(const json& report) {
  return fmt::format(
      "Gradient descent against the closed form of theta: largest deviation {:.1e} |theta*| over all coordinates, "
      "levels "
      "and steps\n\nGuided coefficient of the constrained coordinate\n\n{}\nDistilled minimiser (95 % bounds)\n\n{}",
      report.at("scores").at("largest_deviation").get<double>(), format_guidance(report), format_distillation(report));
}

}  // namespace

LabRecipe theory() {
  const auto options = [](Scale scale) {
    Options o;
    o.pairs = scale == Scale::smoke ? 20000 : scale == Scale::small ? 100000 : 1000000;
    return write_fields(o);
  };
  return {options, run, format};
}

}  // namespace piddm
