#include "piddm/data/check/resampling_cost.h"

#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;

const GridPoints kNodes = {{{AxisKind::nodes, 33}, {AxisKind::nodes, 33}}};

TEST(ResamplingCost, OfExactDataIsThatOfTheWayThereAndBack) {
  const auto pde = make_pde({.name = "darcy", .grid = 32});
  const auto exact = pde->sample(0, 0, 4);
  const auto given = spline_resample_to(*pde, exact, kNodes).to(torch::kFloat32);
  const auto cost = resampling_cost(*pde, given, kNodes, spline_resample(*pde, given, kNodes));
  ASSERT_TRUE(cost.before && cost.there_and_back && cost.solutions);
  EXPECT_EQ(cost.samples, 4);
  EXPECT_LT(cost.solutions->rel_residual, 1e-4);
  EXPECT_GT(cost.after.pde_error, 1e3 * cost.solutions->pde_error);
  EXPECT_LT(cost.after.pde_error, 0.5 * cost.before->pde_error);
  EXPECT_THAT(cost.text(), HasSubstr("first 4 samples"));
  EXPECT_EQ(cost.to_json().at("floor").at("pde_error"), cost.solutions->pde_error);
}

TEST(ResamplingCost, OnSmoothFieldsItIsSmall) {
  const auto pde = make_pde({.name = "heat", .grid = 64});
  const auto exact = pde->sample(0, 0, 4);
  const GridPoints twice = {{{AxisKind::nodes, 65}, {AxisKind::time, 64}}};
  const auto given = torch::cat({exact, exact.narrow(2, 0, 1)}, 2);
  const auto cost = resampling_cost(*pde, given, twice, spline_resample(*pde, given, twice));
  EXPECT_NEAR(cost.after.rel_residual / cost.solutions->rel_residual, 1, 1e-3);
  EXPECT_GT(cost.before->rel_residual, 2 * cost.after.rel_residual);
}

TEST(ResamplingCost, WhatCannotBeHadIsLeftOut) {
  const auto pde = make_pde({.name = "darcy", .grid = 16});
  auto given = torch::ones({2, 2, 9, 9}, torch::kFloat64);
  const GridPoints nodes = {{{AxisKind::nodes, 9}, {AxisKind::nodes, 9}}};
  const auto cost = resampling_cost(*pde, given, nodes, spline_resample(*pde, given, nodes));
  EXPECT_FALSE(cost.before);  // no grid of 9 x 9
  EXPECT_FALSE(cost.to_json().contains("before"));
  EXPECT_THAT(cost.text(), ::testing::Not(HasSubstr("as they were")));
}

}  // namespace
}  // namespace piddm
