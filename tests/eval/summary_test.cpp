#include "piddm/eval/summary.h"

#include "piddm/solve/decode.h"

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

TEST(Summary, OfSamplesHasTheirResidualAndTheirWork) {
  const Samples samples{.x = testing::tiny_data(3), .nfe = 5, .backward = 2, .seconds_per_sample = 0.5};
  const auto pde = testing::tiny_pde();
  const auto summary = physics_summary(samples, *pde);
  EXPECT_EQ(summary.at("pde_error"), pde->pde_error(samples.x).mean().item<double>());
  EXPECT_LT(summary.at("rel_residual"), 1e-6);
  EXPECT_EQ(summary.at("nfe"), 5);
  EXPECT_EQ(summary.at("backward"), 2);
  EXPECT_EQ(summary.at("seconds_per_sample"), 0.5);
  EXPECT_FALSE(summary.has("recomputed"));
  EXPECT_FALSE(summary.has("boundary_error"));  // the stencil of darcy has its walls
}

TEST(Summary, DoesNotDependOnThePiecesThatSamplesComeIn) {
  const auto pde = testing::tiny_pde();
  auto x = testing::tiny_data(5);
  x.select(1, 0).mul_(1.1);
  const auto whole = physics_summary({.x = x, .nfe = 4}, *pde);
  PhysicsSummary summary(*pde);
  summary.add({.x = x.narrow(0, 0, 2), .nfe = 1});
  summary.add({.x = x.narrow(0, 2, 3), .nfe = 6});
  EXPECT_EQ(summary.scores().at("pde_error"), whole.at("pde_error"));
  EXPECT_EQ(summary.scores().at("rel_residual"), whole.at("rel_residual"));
  EXPECT_EQ(summary.scores().at("nfe"), 4);
  Samples first{.x = x.narrow(0, 0, 2)}, rest{.x = x.narrow(0, 2, 3)}, all{.x = x};
  DecodeTotal total(*pde);
  total.decode(first);
  total.decode(rest);
  EXPECT_EQ(write_fields(total.summary()), write_fields(decode_samples(all, *pde)));
  EXPECT_TRUE(torch::equal(torch::cat({first.x, rest.x}), all.x));
}

TEST(Summary, OfErrorsIsInUnitsOfAChannelsVariance) {
  const auto model = testing::tiny_teacher();
  const auto truth = testing::tiny_data(3);
  auto x = truth.clone();
  x.select(1, 1).add_(0.5 * model.normalizer.scale(1));
  const auto errors = error_summary(x, truth, *model.pde, model.normalizer);
  EXPECT_EQ(errors.at("mse_u"), 0);
  EXPECT_NEAR(errors.at("mse_a"), 0.25, 1e-12);
}

}  // namespace
}  // namespace piddm
