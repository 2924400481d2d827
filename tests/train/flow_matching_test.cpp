#include "piddm/train/flow_matching.h"

#include <cmath>

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

/// v = factor x; remembers what it was asked.
class Scaling : public Network {
 public:
  explicit Scaling(double factor) : factor_(factor) {}
  std::string type() const override { return "scaling"; }
  json options_json() const override { return json::object(); }
  Tensor x, t;

 protected:
  Tensor forward(const Tensor& field, const Tensor& time) override {
    x = field, t = time;
    return factor_ * field;
  }

 private:
  double factor_;
};

ProcessPtr linear() { return process_registry().at("linear")(); }

Tensor numbered_data(int64_t n) {
  return torch::arange(n, torch::kFloat32).view({n, 1, 1, 1}) + torch::arange(32).view({2, 4, 4}) / 100;
}

TEST(FlowMatching, DiffusesAndTargetsByTheFormula) {
  constexpr int64_t kBatch = 3, kStep = 5;
  constexpr uint64_t kSeed = 11;
  const auto data = numbered_data(7);
  Scaling network(2);
  const double loss = FlowMatching(network, linear(), data, kBatch, kSeed).loss(kStep).total.item<double>();

  const auto x0 = data.index_select(0, BatchOrder(7, kBatch, kSeed).batch(kStep));
  const auto e = normal(kSeed, Stream::noise, kStep * kBatch, kBatch, {2, 4, 4});
  const auto t = uniform(kSeed, Stream::time, kStep * kBatch, kBatch, {});
  const auto s = t.view({-1, 1, 1, 1});
  EXPECT_TRUE(torch::equal(network.t, t));
  EXPECT_TRUE(torch::equal(network.x, (1 - s) * x0 + s * e));
  const auto target = e.to(torch::kFloat64) - x0;
  EXPECT_NEAR(loss, (2 * network.x.to(torch::kFloat64) - target).square().mean().item<double>(), 1e-5 * loss);
}

// v = 0: (e - c)^2 has mean 1 + c^2 and variance 2 + 4 c^2.
TEST(FlowMatching, OfAZeroNetworkIsTheVarianceOfTheTarget) {
  constexpr double kValue = 1.5;
  constexpr int64_t kBatch = 64, kSteps = 20;
  Scaling network(0);
  FlowMatching objective(network, linear(), torch::full({8, 2, 8, 8}, kValue), kBatch, 3);
  double sum = 0;
  std::vector<Tensor> times;
  for (int64_t step = 0; step < kSteps; ++step) {
    sum += objective.loss(step).total.item<double>();
    times.push_back(network.t);
  }
  const double entries = kSteps * kBatch * 2 * 8 * 8;
  EXPECT_NEAR(sum / kSteps, 1 + kValue * kValue, 4 * std::sqrt((2 + 4 * kValue * kValue) / entries));

  const auto t = torch::cat(times).to(torch::kFloat64);
  EXPECT_NEAR(t.mean().item<double>(), 0.5, 4 * std::sqrt(1.0 / 12 / (kSteps * kBatch)));
  EXPECT_NEAR(t.var().item<double>(), 1.0 / 12, 0.01);
  EXPECT_GT(t.min().item<double>(), 0);
  EXPECT_LT(t.max().item<double>(), 1);
}

// Quadratic times: P(1 - t < d) = sqrt(d) and E t = 2/3, and the loss is that of these times.
TEST(FlowMatching, TakesQuadraticTimes) {
  constexpr int64_t kBatch = 64, kSteps = 40;
  Scaling network(0);
  FlowMatching objective(network, linear(), torch::zeros({8, 1, 2, 2}), kBatch, 3, Spacing::quadratic);
  std::vector<Tensor> times;
  for (int64_t step = 0; step < kSteps; ++step) {
    objective.loss(step);
    times.push_back(network.t);
  }
  const auto u = uniform(3, Stream::time, 0, kSteps * kBatch, {});
  const auto t = torch::cat(times);
  EXPECT_TRUE(torch::equal(t, 1 - (1 - u).square()));
  const auto exact = t.to(torch::kFloat64);
  EXPECT_NEAR(exact.mean().item<double>(), 2.0 / 3, 4 * std::sqrt(4.0 / 45 / (kSteps * kBatch)));
  EXPECT_NEAR((exact > 0.99).to(torch::kFloat64).mean().item<double>(), 0.1, 4 * std::sqrt(0.09 / (kSteps * kBatch)));
}

TEST(FlowMatching, DrawsFreshNoiseInEveryStep) {
  Scaling network(0);
  FlowMatching objective(network, linear(), torch::zeros({4, 1, 4, 4}), 4, 3);
  objective.loss(0);
  const auto x = network.x, t = network.t;
  objective.loss(1);
  EXPECT_FALSE(torch::equal(network.t, t));
  objective.loss(0);
  EXPECT_TRUE(torch::equal(network.x, x));
}

}  // namespace
}  // namespace piddm
