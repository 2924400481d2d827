#include "piddm/model/mlp.h"

#include "tests/testing.h"

namespace piddm {
namespace {

TEST(Mlp, IsTheComposedFormula) {
  Mlp mlp({.channels = 3, .width = 5, .layers = 2, .time = false}, 4);
  const auto x = torch::randn({7, 3, 1, 1});
  const auto p = mlp.named_parameters();
  auto h = x.flatten(1);
  for (int i = 0; i < 3; ++i) {
    h = torch::matmul(h, p["weight" + std::to_string(i)].t()) + p["bias" + std::to_string(i)];
    if (i < 2) h = torch::relu(h);
  }
  EXPECT_LT(testing::relative_error(mlp(x, torch::ones({1})), h.view({7, 3, 1, 1})), 1e-6);
}

TEST(Mlp, WeightsStartWithinOneOverTheRootOfTheInputs) {
  EXPECT_LE(Mlp({}, 4).parameters()[2].abs().max().item<double>(), 0.1);  // 1/sqrt(100)
  EXPECT_GT(Mlp({}, 4).parameters()[2].abs().max().item<double>(), 0.099);
}

TEST(Mlp, SeesTimeOnlyIfAsked) {
  const auto x = torch::randn({2, 2, 1, 1});
  const auto early = torch::full({1}, 0.9), late = torch::tensor({0.1, 0.9});
  Mlp student({.time = false}, 1), teacher({}, 1);
  EXPECT_TRUE(student(x, early).equal(student(x, late)));
  EXPECT_FALSE(teacher(x, early)[0].equal(teacher(x, late)[0]));
  EXPECT_LT(testing::relative_error(teacher(x, late)[1], teacher(x, early)[1]), 1e-6);
}

TEST(Mlp, BelongsToOneGrid) {
  Mlp mlp({.points = 4}, 1);
  EXPECT_ERROR(mlp(torch::zeros({1, 2, 2, 3}), torch::ones({1})), ExitCode::data,
               "[mlp] made for 4 points (model.points), got (1,2,2,3)");
}

}  // namespace
}  // namespace piddm
