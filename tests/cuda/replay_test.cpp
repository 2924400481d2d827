#include "piddm/model/replay.h"

#include "piddm/model/flow.h"
#include "piddm/model/fno.h"
#include "tests/cuda/gpu.h"
#include "tests/testing.h"

namespace piddm {
namespace {

FnoOptions small() {
  FnoOptions o;
  o.modes = {8, 8};
  o.width = 16;
  o.layers = 2;
  o.lifting = o.projection = 32;
  return o;
}

Tensor on_gpu(const Tensor& x) { return x.to(torch::kCUDA); }

// Every call has inputs of its own; the later ones come from the recording.
TEST(Replay, ARecordedNetworkGivesTheValuesOfTheRunningOne) {
  NEEDS_GPU();
  Fno network(small(), 1);
  network.to(torch::kCUDA);
  for (int i = 0; i < kReplayAfter + 3; ++i) {
    const auto x = on_gpu(torch::randn({3, 2, 16, 20})), t = on_gpu(torch::rand({3}));
    const auto want = network(x, t).detach();  // with gradients: never recorded
    const torch::NoGradGuard no_grad;
    EXPECT_LT(testing::relative_error(network(x, t).cpu(), want.cpu()), 1e-6) << "call " << i;
  }
}

TEST(Replay, ItSeesNewWeightsAnotherPrecisionAndOtherShapes) {
  NEEDS_GPU();
  Fno network(small(), 1);
  network.to(torch::kCUDA);
  const torch::NoGradGuard no_grad;
  const auto x = on_gpu(torch::randn({2, 2, 16, 16})), t = on_gpu(torch::rand({2}));
  Tensor before;
  for (int i = 0; i < kReplayAfter + 2; ++i) before = network(x, t);
  const auto earlier = before.clone();
  for (auto& p : network.parameters()) p.mul_(1.1);
  const auto after = network(x, t);
  EXPECT_TRUE(torch::equal(before, earlier));  // results are the caller's own
  EXPECT_GT(testing::relative_error(after.cpu(), before.cpu()), 0.01);
  network.set_precision(Precision::bf16);
  const auto rounded = network(x, t);
  EXPECT_GT(testing::relative_error(rounded.cpu(), after.cpu()), 1e-5);
  EXPECT_LT(testing::relative_error(rounded.cpu(), after.cpu()), 2e-2);
  EXPECT_EQ(network(x.narrow(0, 0, 1), t.narrow(0, 0, 1)).size(0), 1);
}

class RecordedFlow : public ::testing::TestWithParam<IntegratorKind> {};

// The first steps run, the later ones are played back; a second trajectory and one of another integrator use or make
// recordings of their own.
TEST_P(RecordedFlow, EqualsTheStepsOneByOne) {
  NEEDS_GPU();
  Model model;
  model.process = process_registry().at("linear")();
  model.network = std::make_shared<Fno>(small(), 1);
  model.network->to(torch::kCUDA);
  const IntegratorOptions options{GetParam(), 12, 0, Spacing::quadratic};
  for (int trajectory = 0; trajectory < 2; ++trajectory) {
    const auto e = on_gpu(torch::randn({2, 2, 16, 16}));
    const auto v = [&](const Tensor& x, const Tensor& t) { return (*model.network)(x, t).detach(); };
    const auto want = integrate(v, e, options);  // with gradients: never recorded
    const WorkMeter meter(*model.network);
    const torch::NoGradGuard no_grad;
    const auto got = flow(model, e, options);
    EXPECT_LT(testing::relative_error(got.x.cpu(), want.x.cpu()), 1e-6) << "trajectory " << trajectory;
    EXPECT_EQ(meter.spent().forward, 2 * want.evaluations);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RecordedFlow, ::testing::Values(IntegratorKind::euler, IntegratorKind::heun));

TEST(Replay, CallsOnTheCpuAndWithGradientsAreNotRecorded) {
  const auto x = torch::zeros({1, 2, 8, 8}), t = torch::zeros({1});
  EXPECT_FALSE(Replay::takes(x, t));
  NEEDS_GPU();
  EXPECT_FALSE(Replay::takes(on_gpu(x), on_gpu(t)));
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(Replay::takes(on_gpu(x), on_gpu(t)));
  EXPECT_FALSE(Replay::takes(on_gpu(torch::zeros({64, 2, 128, 128})), on_gpu(t)));
}

}  // namespace
}  // namespace piddm
