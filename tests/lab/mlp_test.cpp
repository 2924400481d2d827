#include "piddm/lab/mlp.h"

#include "piddm/lab/toy_distillation.h"
#include "tests/testing.h"

namespace piddm {
namespace {

TEST(Mlp, IsTheComposedFormula) {
  Mlp mlp({.dimension = 3, .width = 5, .layers = 2}, 4);
  const auto x = torch::randn({7, 3, 1, 1});
  const auto p = mlp.named_parameters();
  auto h = x.flatten(1);
  for (int i = 0; i < 3; ++i) {
    h = torch::matmul(h, p["weight" + std::to_string(i)].t()) + p["bias" + std::to_string(i)];
    if (i < 2) h = torch::relu(h);
  }
  EXPECT_LT(testing::relative_error(mlp(x, torch::ones({1})), h.view({7, 3, 1, 1})), 1e-6);
  EXPECT_EQ(mlp.work().forward, 7);
}

TEST(Mlp, WeightsAreAFunctionOfTheSeed) {
  Mlp a({}, 4), b({}, 4), c({}, 5);
  EXPECT_TRUE(a.parameters()[0].equal(b.parameters()[0]));
  EXPECT_FALSE(a.parameters()[0].equal(c.parameters()[0]));
  EXPECT_LE(a.parameters()[2].abs().max().item<double>(), 0.1);  // 1/sqrt(100)
}

TEST(Mlp, SeesTimeOnlyIfAsked) {
  const auto x = torch::randn({2, 2, 1, 1});
  const auto early = torch::full({1}, 0.9), late = torch::tensor({0.1, 0.9});
  Mlp student({}, 1), teacher({.time = true}, 1);
  EXPECT_TRUE(student(x, early).equal(student(x, late)));
  EXPECT_FALSE(teacher(x, early)[0].equal(teacher(x, late)[0]));
  EXPECT_LT(testing::relative_error(teacher(x, late)[1], teacher(x, early)[1]), 1e-6);
}

Tensor off_diagonal(const Tensor& x) { return (x.flatten(1).select(1, 0) - x.flatten(1).select(1, 1)).square(); }

TEST(ToyDistillation, LossIsTheFormula) {
  Mlp student({}, 1);
  const auto e = torch::randn({10, 2, 1, 1}), x0 = torch::randn({10, 2, 1, 1});
  ToyDistillation objective(student, e, x0, off_diagonal, 3, 4, 9);
  const auto rows = BatchOrder(10, 4, 9).batch(2);
  const auto x = student_output(student, e.index_select(0, rows));
  const double expected =
      ((x - x0.index_select(0, rows)).square().sum() / 4 + 3 * off_diagonal(x).mean()).item<double>();
  EXPECT_NEAR(objective.loss(2).total.item<double>(), expected, 1e-5 * expected);
}

TEST(ToyDistillation, RefinementLowersTheConstraintOfEverySample) {
  Mlp student({}, 2);
  torch::manual_seed(1);
  const auto e = torch::randn({32, 2, 1, 1});
  const auto refined = refine_latents(student, off_diagonal, 1, {.iterations = 40}, e);
  const auto before = off_diagonal(student_output(student, e)), after = off_diagonal(student_output(student, refined));
  EXPECT_TRUE((after <= before).all().item<bool>());
  EXPECT_LT(after.mean().item<double>(), 0.1 * before.mean().item<double>());
}

}  // namespace
}  // namespace piddm
