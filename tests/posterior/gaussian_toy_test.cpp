// A law of which every posterior is known: a = sum of 9 cosine modes with independent normal weights, u = a.

#include <algorithm>
#include <cmath>

#include "piddm/files/run_folder.h"
#include "piddm/model/network_registry.h"
#include "piddm/posterior/posterior_objective.h"
#include "piddm/train/trainer.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kGrid = 16, kModes = 3, kPoints = kGrid * kGrid;
constexpr double kNoise = 0.3;  // of the observed values, network units

/// Columns: the modes times the standard deviations of their weights, [256,9] float64; variance 1 on average.
Tensor modes() {
  const auto x = (torch::arange(kGrid, torch::kFloat64) + 0.5) / kGrid, k = torch::arange(kModes, torch::kFloat64);
  const auto c = torch::cos(M_PI * x.unsqueeze(1) * k);
  const auto size = 1 / (1 + k.unsqueeze(1).square() + k.square()).flatten();
  const auto both = torch::einsum("ik,jl->ijkl", {c, c}).reshape({kPoints, kModes * kModes}) * size;
  return both / both.square().sum(1).mean().sqrt();
}

class CosineToy : public Pde {
 public:
  explicit CosineToy(PdeOptions options) : Pde(std::move(options)) {}
  const std::vector<Channel>& channels() const override {
    static const std::vector<Channel> list = {{.name = "u"}, {.name = "a", .role = Role::coefficient}};
    return list;
  }
  GridAxes axes() const override { return {GridAxis{"x"}, GridAxis{"y"}}; }
  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override {
    const auto weights = normal(seed, Stream::coefficients, first, count, {kModes * kModes}, torch::kFloat64);
    return weights.matmul(modes().t()).view({count, 1, kGrid, kGrid});
  }
  Tensor solve(const Tensor& a, const Tensor&, SolveReport*) const override { return a; }
  std::vector<Equation> equations() const override { return {{}}; }
  Residual residual(const Tensor& x) const override {
    return {.fields = {{.interior = solution(x) - coefficients(x), .reference = coefficients(x)}}};
  }
  Tensor constrain(const Tensor& x) const override { return x; }
};

const PdePtr& toy() {
  static const PdePtr pde = [] {
    if (const auto names = pde_registry().names(); std::find(names.begin(), names.end(), "cosine-toy") == names.end())
      pde_registry().add({"cosine-toy", "u = a", make_registered_pde<CosineToy>});
    return make_pde({"cosine-toy", kGrid});
  }();
  return pde;
}

Model toy_model() {
  Model model;
  model.kind = ModelKind::posterior;
  model.pde = toy();
  model.process = linear_process();
  const auto unit = [](const char* name) {
    return json{{"name", name}, {"mean", 0}, {"std", 1}, {"shift", 0}, {"scale", 1}};
  };
  model.normalizer = Normalizer::from_json(json::array({unit("u"), unit("a")}));
  model.draw = {.smooth = 3, .modes = kModes};
  const json table = {{"modes", {6, 6}}, {"width", 16},      {"layers", 3},
                      {"lifting", 32},   {"projection", 32}, {"time_features", 4}};
  model.network = network_from(table, 2, 1, posterior_conditions(*toy(), model.draw));
  return model;
}

/// 8 noisy points of a.
PosteriorOptions options_of_toy() {
  PosteriorOptions o;
  o.fresh = true;
  o.observe.inverse = o.observe.reconstruct = o.observe.nothing = 0;
  o.observe.whole = o.observe.trace = o.observe.exact = 0;
  o.observe.fewest = o.observe.most = 8;
  o.observe.low_noise = o.observe.high_noise = kNoise;
  return o;
}

/// Mean [N,256] and covariance diagonal of a given the known values, by dense algebra.
std::pair<Tensor, Tensor> exact_posterior(const Target& known) {
  const auto f = modes();
  std::vector<Tensor> means, variances;
  for (int64_t i = 0; i < known.mask.size(0); ++i) {
    const auto at = known.mask[i][1].flatten().nonzero().squeeze(1);
    const auto rows = f.index_select(0, at), y = known.values[i][1].flatten().index_select(0, at).to(torch::kFloat64);
    const auto precision = torch::eye(f.size(1), torch::kFloat64) + rows.t().matmul(rows) / (kNoise * kNoise);
    const auto covariance = precision.inverse();
    means.push_back(f.matmul(covariance.matmul(rows.t().matmul(y))) / (kNoise * kNoise));
    variances.push_back((f.matmul(covariance) * f).sum(1));
  }
  return {torch::stack(means), torch::stack(variances)};
}

// In units of the exact posterior's standard deviation, after seconds of training.
constexpr double kMeanOff = 0.4, kSpreadOff = 0.12;

TEST(GaussianToy, TrainingFindsTheExactPosterior) {
  constexpr int64_t kCases = 32, kDraws = 64, kBatch = 32;
  const testing::TempDir folder;
  const auto model = toy_model();
  const PosteriorStudent student(model);
  const auto options = options_of_toy();
  PosteriorObjective objective(student, model, fresh_samples(model, kBatch, 1), options, 1);
  auto run = RunFolder::create(folder / "run", json::object());
  const TrainOptions training{.steps = 700, .batch = kBatch, .adam = {.lr = 1e-2, .ema = 0.98}};
  train(*model.network, objective, training, run, "toy");

  const torch::NoGradGuard no_grad;
  const auto truth = toy()->sample(2, 0, kCases).to(torch::kFloat32);
  const auto known = random_observations(options.observe, *toy(), truth, 9, 0);
  const auto noise = student.noise(5, Stream::latents, 0, kCases * kDraws);
  const auto images = student.images(known, kCases).repeat_interleave(kDraws, 0);
  const auto draws = student(noise, images).view({kCases, kDraws, 2, kPoints}).to(torch::kFloat64);
  const auto [mean, variance] = exact_posterior(known);
  const double width = variance.mean().item<double>();
  for (int64_t c = 0; c < 2; ++c) {
    const auto x = draws.select(2, c);
    // less what is left of the chance of the draws
    const double apart =
        (x.mean(1) - mean).square().mean().item<double>() - x.var(1, true).mean().item<double>() / kDraws;
    const double spread = x.var(1, true).mean().item<double>();
    EXPECT_LT(std::sqrt(apart / width), kMeanOff) << c;
    EXPECT_NEAR(std::sqrt(spread / width), 1, kSpreadOff) << c;
  }
}

}  // namespace
}  // namespace piddm
