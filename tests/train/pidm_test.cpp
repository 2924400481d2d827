#include "piddm/train/pidm.h"

#include "piddm/pde/physics_loss.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr int64_t kBatch = 4;
constexpr uint64_t kSeed = 2;

struct Setting {
  Model model = testing::tiny_teacher();
  Tensor data = model.normalizer.to_network(testing::tiny_data(8)).to(torch::kFloat32);

  Pidm objective(const PidmOptions& options) {
    return {*model.network, model.process, data, kBatch, kSeed, model.pde, model.normalizer, options};
  }
  double plain(int64_t step) {
    return FlowMatching(*model.network, model.process, data, kBatch, kSeed).loss(step).total.item<double>();
  }
  double pde_error(const Tensor& z) {
    return physics_loss(*model.pde, model.normalizer.to_physical(z)).pde_error.mean().item<double>();
  }
  // The batch of step 0.
  Tensor e() const { return normal(kSeed, Stream::noise, 0, kBatch, {2, 16, 16}); }
  Tensor t() const { return uniform(kSeed, Stream::time, 0, kBatch, {}); }
  Tensor x_t() const {
    return model.process->diffuse(data.index_select(0, BatchOrder(8, kBatch, kSeed).batch(0)), e(), t());
  }
};

TEST(Pidm, AddsTheResidualOfTheCleanEstimateToFlowMatching) {
  Setting s;
  const auto loss = s.objective({.lambda = 0.3}).loss(0);
  EXPECT_EQ(loss.terms[0].first, "diffusion");
  EXPECT_NEAR(loss.terms[0].second.item<double>(), s.plain(0), 1e-7);
  const torch::NoGradGuard no_grad;
  const auto clean = s.model.process->clean(s.x_t(), (*s.model.network)(s.x_t(), s.t()), s.t());
  const double residual = s.pde_error(clean);
  EXPECT_NEAR(loss.terms[1].second.item<double>(), residual, 1e-5 * residual);
  const double total = s.plain(0) + 0.3 * residual;
  EXPECT_NEAR(loss.total.item<double>(), total, 1e-5 * total);
}

TEST(Pidm, WithoutWeightItIsFlowMatchingThatWatches) {
  Setting s;
  for (const int64_t step : {0, 3})
    EXPECT_EQ(s.objective({.watch = true}).loss(step).total.item<double>(), s.plain(step));
}

TEST(Pidm, UpstreamsWeightIsTheInversePosteriorVariance) {
  Setting s;
  const auto t = torch::tensor({0.005, 0.02, 0.5, 1.0});
  const auto weight = s.objective({.lambda = 1e-3, .weighting = PidmWeighting::sigma}).weight(t);
  const auto expected = [](double at, double next) {  // linear: alpha = 1-t, sigma = t
    const double ratio = (1 - at) / (1 - next), share = next / at;
    return 1e-3 / 2 / (share * share * (at * at - ratio * ratio * next * next));
  };
  EXPECT_NEAR(weight[0].item<double>() / expected(0.02, 0.01), 1, 1e-4);
  EXPECT_NEAR(weight[1].item<double>() / expected(0.02, 0.01), 1, 1e-4);
  EXPECT_NEAR(weight[2].item<double>() / expected(0.5, 0.49), 1, 1e-4);
  EXPECT_NEAR(weight[3].item<double>() / expected(1, 0.99), 1, 1e-4);
  EXPECT_TRUE((s.objective({.lambda = 7}).weight(t) == 7).all().item<bool>());
}

TEST(Pidm, TheSampleEstimateIsTakenNearTheEnd) {
  Setting s;
  const WorkMeter meter(*s.model.network);
  const auto loss = s.objective({.lambda = 0.3, .estimate = PidmEstimate::sample}).loss(0);
  EXPECT_EQ(meter.spent().forward, 2 * kBatch);
  {
    const torch::NoGradGuard no_grad;
    const auto x = s.x_t(), t = s.t(), v = (*s.model.network)(x, t), at = t.view({-1, 1, 1, 1});
    const auto end = torch::full({1}, 0.01);  // linear: alpha = 1-t, sigma = t
    const auto near = 0.99 * (x - at * v) + 0.01 * (x + (1 - at) * v);
    const double residual = s.pde_error(near - 0.01 * (*s.model.network)(near, end));
    EXPECT_NEAR(loss.terms[1].second.item<double>(), residual, 1e-4 * residual);
  }
  loss.total.backward();
  EXPECT_TRUE(s.model.network->parameters().front().grad().defined());
}

// Stokes has conditions apart from its stencil.
TEST(Pidm, TheBoundaryHasAWeightOfItsOwn) {
  Setting s;
  s.model.pde = make_pde({.name = "stokes", .grid = testing::kTinyGrid});
  s.model.normalizer = Normalizer::fit(s.model.pde->sample(5, 0, 8), s.model.pde->channels());
  s.data = s.model.normalizer.to_network(s.model.pde->sample(5, 0, 8)).to(torch::kFloat32);
  const auto physics = [&](double lambda, double boundary) {
    const auto loss = s.objective({.lambda = lambda, .boundary = boundary}).loss(0);
    return loss.total.item<double>() - loss.terms[0].second.item<double>();
  };
  const double residual = physics(1, 0), conditions = physics(1, 1) - residual;
  EXPECT_GT(conditions, 1e-3);
  EXPECT_NEAR(physics(4, 3), 4 * residual + 3 * conditions, 1e-3 * physics(4, 3));
}

TEST(Pidm, RefusesNegativeWeights) {
  Setting s;
  EXPECT_ERROR(s.objective({.lambda = -1}), ExitCode::usage, "pidm.lambda: must not be negative, got -1");
  EXPECT_ERROR(s.objective({.boundary = -1}), ExitCode::usage, "pidm.boundary: must not be negative, got -1");
}

}  // namespace
}  // namespace piddm
