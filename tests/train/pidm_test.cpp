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

TEST(Pidm, TheSampleEstimateWalksToTheEnd) {
  Setting s;
  for (const int64_t walk : {0, 2}) {
    const WorkMeter meter(*s.model.network);
    const auto loss = s.objective({.lambda = 0.3, .estimate = PidmEstimate::sample, .walk = walk}).loss(0);
    EXPECT_EQ(meter.spent().forward, (walk + 2) * kBatch);
    const torch::NoGradGuard no_grad;
    auto x = s.x_t(), t = s.t(), v = (*s.model.network)(x, t);
    for (int64_t i = 1; i <= walk + 1; ++i) {
      const auto next = s.t() + (0.01 - s.t()) * (static_cast<double>(i) / static_cast<double>(walk + 1));
      const auto times = next.view({-1, 1, 1, 1}), clean = x - t.view({-1, 1, 1, 1}) * v;
      x = (1 - times) * clean + times * (x + (1 - t.view({-1, 1, 1, 1})) * v);
      t = next;
      v = (*s.model.network)(x, t);
    }
    const double residual = s.pde_error(x - t.view({-1, 1, 1, 1}) * v);
    EXPECT_NEAR(loss.terms[1].second.item<double>(), residual, 1e-4 * residual) << walk;
    loss.total.backward();
    EXPECT_TRUE(s.model.network->parameters().front().grad().defined());
  }
}

TEST(Pidm, RefusesNegativeWeights) {
  Setting s;
  EXPECT_ERROR(s.objective({.lambda = -1}), ExitCode::usage, "pidm.lambda");
  EXPECT_ERROR(s.objective({.walk = -1}), ExitCode::usage, "pidm.walk");
}

}  // namespace
}  // namespace piddm
