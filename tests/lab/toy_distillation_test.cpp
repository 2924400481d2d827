#include "piddm/lab/toy_distillation.h"

#include "tests/testing.h"

namespace piddm {
namespace {

Tensor off_diagonal(const Tensor& x) { return (x.flatten(1).select(1, 0) - x.flatten(1).select(1, 1)).square(); }

TEST(ToyDistillation, LossIsTheFormula) {
  Mlp student({.time = false}, 1);
  const auto e = torch::randn({10, 2, 1, 1}), x0 = torch::randn({10, 2, 1, 1});
  ToyDistillation objective(student, e, x0, off_diagonal, 3, 4, 9);
  const auto rows = BatchOrder(10, 4, 9).batch(2);
  const auto x = student_output(student, e.index_select(0, rows));
  const double expected =
      ((x - x0.index_select(0, rows)).square().sum() / 4 + 3 * off_diagonal(x).mean()).item<double>();
  EXPECT_NEAR(objective.loss(2).total.item<double>(), expected, 1e-5 * expected);
}

TEST(ToyDistillation, RefinementLowersTheConstraintOfEverySample) {
  Mlp student({.time = false}, 2);
  torch::manual_seed(1);
  const auto e = torch::randn({32, 2, 1, 1});
  const auto refined = refine_latents(student, off_diagonal, 1, {.iterations = 40}, e);
  const auto before = off_diagonal(student_output(student, e)), after = off_diagonal(student_output(student, refined));
  EXPECT_TRUE((after <= before).all().item<bool>());
  EXPECT_LT(after.mean().item<double>(), 0.1 * before.mean().item<double>());
}

}  // namespace
}  // namespace piddm
