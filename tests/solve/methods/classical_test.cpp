#include "piddm/solve/methods/classical.h"

#include "piddm/pde/helmholtz.h"
#include "piddm/solve/methods/elliptic_law.h"
#include "piddm/solve/task/sensor_rows.h"
#include "tests/solve/methods/small_model.h"
#include "tests/testing.h"

namespace piddm {
namespace {

std::shared_ptr<Poisson> pde_of(const std::string& name, int64_t grid) {
  if (name == "poisson") return std::make_shared<Poisson>(PdeOptions{name, grid});
  return std::make_shared<Helmholtz>(PdeOptions{name, grid, {{"k", 3.0}}});
}

struct DenseLaw {
  explicit DenseLaw(const Poisson& pde) {
    const EllipticLaw law(pde);
    f = testing::dense_matrix([&](const Tensor& xi) { return law.apply(xi); },
                              {1, pde.grid().height(), pde.grid().width()});
  }
  Tensor f;  // x = F xi
};

/// A random third of the entries, each with a noise of 2 to 10 % of its channel's spread.
NoisyValues third_of(const Tensor& x, const Normalizer& normalizer) {
  const auto draws = uniform(1, Stream::splits, 0, x.size(0), {2, x.size(2), x.size(3)}, torch::kFloat64);
  auto sigma = 0.02 + 0.24 * draws;
  for (int64_t c = 0; c < 2; ++c) sigma.select(1, c).mul_(normalizer.scale(c));
  return {x, (draws < 1.0 / 3).to(torch::kFloat64) / sigma.square()};
}

TEST(EllipticLaw, IsTheLawOfTheData) {
  constexpr int64_t kSamples = 4000;
  for (const std::string name : {"poisson", "helmholtz"}) {
    const auto pde = pde_of(name, 8);
    const auto f = DenseLaw(*pde).f;
    const auto x = pde->sample(3, 0, kSamples).flatten(1);
    const auto a = 64;  // u is far smaller than a: compare the two parts
    const auto empirical = x.t().mm(x) / kSamples, exact = f.mm(f.t());
    for (const int64_t part : {0, 1})
      EXPECT_LT(testing::relative_error(empirical.narrow(0, part * a, a).narrow(1, part * a, a),
                                        exact.narrow(0, part * a, a).narrow(1, part * a, a)),
                0.08)
          << name << part;
  }
}

TEST(EllipticLaw, TransposedIsTheTranspose) {
  const auto pde = pde_of("helmholtz", 12);
  const EllipticLaw law(*pde);
  const auto transposed = testing::dense_matrix([&](const Tensor& x) { return law.transposed(x); }, {2, 12, 12});
  EXPECT_LT(testing::relative_error(transposed, DenseLaw(*pde).f.t()), 1e-12);
}

TEST(EllipticLaw, ThePosteriorMeanIsThatOfDenseConditioning) {
  for (const std::string name : {"poisson", "helmholtz"})
    for (const int64_t grid : {8, 12}) {
      const auto pde = pde_of(name, grid);
      const auto model = testing::small_model(pde);
      const auto f = DenseLaw(*pde).f;
      const auto data = third_of(pde->sample(7, 0, 2), model.normalizer);
      const auto mean = EllipticLaw(*pde).posterior(data);
      for (int64_t b = 0; b < 2; ++b) {
        const auto w = data.precision[b].flatten();
        const auto at = w.nonzero().squeeze(1);
        const auto known = f.index_select(0, at), noise = torch::diag(1 / w.index_select(0, at));
        const auto gain = f.mm(known.t()).mm(torch::linalg_inv(known.mm(known.t()) + noise));
        const auto expected = gain.mv(data.values[b].flatten().index_select(0, at));
        for (int64_t c = 0; c < 2; ++c)
          EXPECT_LT(testing::relative_error(mean[b][c].flatten(), expected.view({2, -1})[c]), 1e-6)
              << name << grid << c;
      }
    }
}

/// Four functionals of each of two samples: an average of u over a box, a line of a, a flux, a point.
Functionals functionals_of(const Poisson& pde, const Tensor& x) {
  const auto& channels = pde.channels();
  const std::vector<std::pair<int64_t, SensorRow>> rows = {{0, box_row(pde, channels[0], {0.1, 0.2}, {0.6, 0.5})},
                                                           {1, line_row(pde, channels[1], {0.1, 0.9}, {0.9, 0.3})},
                                                           {0, flux_row(pde, channels[0], {0, 0.2}, {0, 0.7})},
                                                           {1, point_row(pde, channels[1], {0.33, 0.77})}};
  std::vector<int64_t> sample, channel, row, entry;
  std::vector<double> weight;
  for (int64_t b = 0; b < 2; ++b)
    for (const auto& [c, one] : rows) {
      for (const auto& [at, w] : one.weights) {
        row.push_back(static_cast<int64_t>(sample.size()));
        entry.push_back(c * pde.grid().points() + at);
        weight.push_back(w);
      }
      sample.push_back(b);
      channel.push_back(c);
    }
  Functionals f{.sample = torch::tensor(sample, torch::kLong), .channel = torch::tensor(channel, torch::kLong)};
  f.value = f.sigma = torch::zeros({8}, torch::kFloat64);
  f.gain = torch::ones({8}, torch::kFloat64);
  f.row = torch::tensor(row, torch::kLong);
  f.entry = torch::tensor(entry, torch::kLong);
  f.weight = torch::tensor(weight, torch::kFloat64);
  f.value = f.apply(x);
  f.sigma = 0.05 * f.value.abs();
  f.trust = f.sigma.pow(-2);
  return f;
}

/// The rows of sample b as a matrix over its entries.
Tensor dense_rows(const Functionals& f, int64_t b, int64_t entries) {
  const auto one = f.select(torch::tensor({b}));
  const auto unit = torch::eye(entries, torch::kFloat64);
  std::vector<Tensor> columns;
  for (int64_t k = 0; k < entries; ++k) columns.push_back(one.apply(unit[k].unsqueeze(0)));
  return torch::stack(columns, 1);
}

TEST(EllipticLaw, ConditionsOnFunctionalsAsDenseConditioningDoes) {
  for (const std::string name : {"poisson", "helmholtz"}) {
    const auto pde = pde_of(name, 12);
    const auto model = testing::small_model(pde);
    const auto f = DenseLaw(*pde).f;
    const auto x = pde->sample(7, 0, 2);
    const auto data = third_of(x, model.normalizer);
    const auto rows = functionals_of(*pde, x);
    const auto mean = EllipticLaw(*pde).posterior(data, rows, {}, {});
    for (int64_t b = 0; b < 2; ++b) {
      const auto w = data.precision[b].flatten();
      const auto at = w.nonzero().squeeze(1);
      const auto one = rows.select(torch::tensor({b}));
      const auto map = torch::cat({f.index_select(0, at), dense_rows(rows, b, f.size(0)).mm(f)});
      const auto noise = torch::cat({1 / w.index_select(0, at), one.sigma.square()});
      const auto y = torch::cat({data.values[b].flatten().index_select(0, at), one.value});
      const auto gain = f.mm(map.t()).mm(torch::linalg_inv(map.mm(map.t()) + torch::diag(noise)));
      const auto expected = gain.mv(y);
      for (int64_t c = 0; c < 2; ++c)
        EXPECT_LT(testing::relative_error(mean[b][c].flatten(), expected.view({2, -1})[c]), 1e-6) << name << c;
    }
  }
}

// From the observation on: sensors of every kind, and nothing else, through units and back.
TEST(Classical, TakesAveragesAndFluxes) {
  const auto pde = pde_of("poisson", 16);
  const auto model = testing::small_model(pde);
  const auto x = pde->sample(7, 0, 2);
  Observation observation{torch::zeros_like(x), torch::zeros_like(x)};
  observation.functionals = functionals_of(*pde, x);
  const auto prior = observation.functionals.sigma.clone();
  const auto found = ClassicalMethod(model, {}).solve(observation, 0).x;
  EXPECT_LT(
      (((observation.functionals.apply(found) - observation.functionals.value) / prior).square().mean()).item<double>(),
      1);
  EXPECT_LT(model.pde->pde_error(found).max().item<double>(), 1e-20);
  const auto together = ClassicalMethod(model, {.estimate = Estimate::draw}).solve(observation, 3).x;
  const auto apart = ClassicalMethod(model, {.estimate = Estimate::draw, .batch = 1}).solve(observation, 3).x;
  EXPECT_LT(testing::relative_error(together, apart), 1e-6);
  const auto darcy = testing::small_model(testing::tiny_pde());
  EXPECT_ERROR(ClassicalMethod(darcy, {}).solve(observation, 0), ExitCode::usage,
               "[classical] knows entries of the grid only");
}

TEST(EllipticLaw, DrawsHaveThePosteriorCovariance) {
  constexpr int64_t kDraws = 1000, kGrid = 8;
  const auto pde = pde_of("poisson", kGrid);
  const auto model = testing::small_model(pde);
  const auto one = third_of(pde->sample(7, 0, 1), model.normalizer);
  const NoisyValues data{one.values.repeat({kDraws, 1, 1, 1}), one.precision.repeat({kDraws, 1, 1, 1})};
  const EllipticLaw law(*pde);
  const auto noise = normal(5, Stream::splits, 0, kDraws, {3, kGrid, kGrid}, torch::kFloat64);
  const auto draws = law.posterior(data, {noise.narrow(1, 0, 2), noise.narrow(1, 2, 1)});
  const auto centred = (draws - law.posterior(one)).flatten(1);
  const auto f = DenseLaw(*pde).f;
  const auto w = one.precision.flatten().unsqueeze(1);
  const auto exact = f.mm(torch::linalg_inv(torch::eye(f.size(1), torch::kFloat64) + f.t().mm(w * f))).mm(f.t());
  const auto found = centred.t().mm(centred) / kDraws;
  for (const int64_t part : {0, 64})
    EXPECT_LT(testing::relative_error(found.narrow(0, part, 64).narrow(1, part, 64),
                                      exact.narrow(0, part, 64).narrow(1, part, 64)),
              0.25)
        << part;
}

TEST(Classical, SolvesForwardProblemsOfEveryPde) {
  for (const auto& name : pde_registry().names()) {
    const auto model = testing::small_model(make_pde({.name = name, .grid = 16}));
    const auto truth = model.pde->sample(7, 0, 2);
    const auto x = ClassicalMethod(model, {}).solve(observe(Task::forward, truth, *model.pde, 1), 0);
    EXPECT_LT(testing::relative_error(x.x, truth), 1e-9) << name;
    EXPECT_EQ(x.nfe, 0);
    EXPECT_EQ(ClassicalMethod::refusal(Task::forward, *model.pde), "");
  }
}

// The source of a known solution is known; its ring (which no equation sees) has the conditional mean of the law.
TEST(Classical, InvertsPoissonAndHelmholtz) {
  for (const std::string name : {"poisson", "helmholtz"}) {
    const auto model = testing::small_model(make_pde({.name = name, .grid = 16}));
    const auto truth = model.pde->sample(7, 0, 3);
    const auto x = ClassicalMethod(model, {}).solve(observe(Task::inverse, truth, *model.pde, 1), 0).x;
    const auto inside = [](const Tensor& a) { return a.select(1, 1).narrow(1, 1, 14).narrow(2, 1, 14); };
    EXPECT_LT(testing::relative_error(inside(x), inside(truth)), 1e-3) << name;
    EXPECT_LT(testing::relative_error(x.select(1, 1), truth.select(1, 1)), 0.2) << name;
  }
}

TEST(Classical, ReconstructsBetterThanNoiseAndSatisfiesTheEquation) {
  const auto model = testing::small_model(make_pde({.name = "poisson", .grid = 32}));
  const auto truth = model.pde->sample(7, 0, 4);
  const auto observation = observe(Task::reconstruct, truth, *model.pde, 1);
  ClassicalOptions options;
  options.accuracy = 1e-3;
  const auto mean = ClassicalMethod(model, options).solve(observation, 0).x;
  EXPECT_LT(testing::relative_error(mean.select(1, 0), truth.select(1, 0)), 1.5e-2);
  EXPECT_LT(testing::relative_error(mean.select(1, 1), truth.select(1, 1)), 0.2);
  EXPECT_LT(model.pde->pde_error(mean).max().item<double>(), 1e-20);
  options.estimate = Estimate::draw;
  const auto draw = ClassicalMethod(model, options).solve(observation, 0).x;
  EXPECT_LT(testing::relative_error(draw.select(1, 0), truth.select(1, 0)), 3e-2);
  // what the mean leaves out, a draw has: its error is the larger one by about sqrt 2
  const double ratio = testing::relative_error(draw.select(1, 1), truth.select(1, 1)) /
                       testing::relative_error(mean.select(1, 1), truth.select(1, 1));
  EXPECT_GT(ratio, 1.2);
  EXPECT_LT(ratio, 1.7);
  EXPECT_TRUE(torch::equal(ClassicalMethod(model, options).solve(observation, 0).x, draw));
  EXPECT_FALSE(torch::equal(ClassicalMethod(model, options).solve(observation, 1).x, draw));
}

TEST(Classical, GeneratesFromTheLawButNeverADataSet) {
  const auto model = testing::tiny_student();
  const auto x = ClassicalMethod(model, {}).generate(2, 3, 5).x;
  EXPECT_LT(model.pde->pde_error(x).max().item<double>(), 1e-15);
  EXPECT_FALSE(torch::equal(x, testing::tiny_data(3, 2)));  // seed 5 too
  EXPECT_TRUE(torch::equal(ClassicalMethod(model, {}).generate(3, 1, 5).x[0], x[1]));
}

TEST(Classical, RefusesWhatItCannotInvert) {
  const auto model = testing::small_model(make_pde({.name = "burgers", .grid = 16}));
  EXPECT_NE(ClassicalMethod::refusal(Task::inverse, *model.pde), "");
  EXPECT_EQ(ClassicalMethod::refusal(Task::reconstruct, *testing::tiny_pde()), "");
  const auto truth = model.pde->sample(7, 0, 1);
  EXPECT_ERROR(ClassicalMethod(model, {}).solve(observe(Task::reconstruct, truth, *model.pde, 1), 0), ExitCode::usage,
               "[classical] burgers: it solves for unknown coefficients of");
  ClassicalOptions options;
  options.accuracy = 0;
  EXPECT_ERROR(ClassicalMethod(model, options), ExitCode::usage, "accuracy");
}

TEST(Classical, RefusesCoefficientsItWouldHaveToChange) {
  const auto model = testing::tiny_teacher();
  for (const double bad : {-3.0, 0.0}) {
    auto x = testing::tiny_data(3);
    x[2][1][4][5] = bad;
    EXPECT_ERROR(ClassicalMethod(model, {}).solve(observe(Task::forward, x, *model.pde, 0), 0), ExitCode::data,
                 fmt::format("[classical] inadmissible coefficients: sample 2, a = {:g}; must be at least 0.05", bad));
  }
}

}  // namespace
}  // namespace piddm
