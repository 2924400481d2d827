#include "piddm/model/flow.h"

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

Model teacher() {
  Model model;
  model.kind = ModelKind::teacher;
  model.process = process_registry().at("vp")();
  model.network = testing::tiny_network(3);
  return model;
}

class FlowBy : public ::testing::TestWithParam<IntegratorKind> {};

TEST_P(FlowBy, IsTheIntegralOfTheVelocity) {
  const torch::NoGradGuard no_grad;
  const auto model = teacher();
  const IntegratorOptions options{GetParam(), 6, 1e-3, Spacing::quadratic};
  const auto e = torch::randn({3, 2, 8, 8});
  const auto v = [&](const Tensor& x, const Tensor& t) { return (*model.network)(x, t); };
  const auto want = integrate(v, e, options, model.process->t_end());
  const WorkMeter meter(*model.network);
  int64_t steps = 0;
  const auto got = flow(model, e, options, [&] { ++steps; });
  EXPECT_TRUE(got.x.equal(want.x));
  EXPECT_EQ(got.evaluations, want.evaluations);
  EXPECT_EQ(meter.spent().forward, 3 * want.evaluations);
  EXPECT_EQ(steps, GetParam() == IntegratorKind::adaptive ? 1 : 6);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FlowBy,
                         ::testing::Values(IntegratorKind::euler, IntegratorKind::heun, IntegratorKind::adaptive));

TEST(Flow, NeedsAStep) {
  EXPECT_ERROR(flow(teacher(), torch::zeros({1, 2, 8, 8}), {IntegratorKind::heun, 0}), ExitCode::usage,
               "needs at least one step, got 0");
}

}  // namespace
}  // namespace piddm
