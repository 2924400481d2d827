#include "piddm/numerics/jacobian.h"

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::relative_error;

Tensor draw_rows(int64_t first, int64_t count, const std::vector<int64_t>& shape) {
  return normal(3, Stream::noise, first, count, shape, torch::kFloat64);
}

Tensor all_rows(int64_t n) { return torch::arange(n); }

/// sin(A x) + (B x)^2 with other matrices for every sample of the batch.
RowFunction curved() {
  const auto a = draw_rows(0, 3, {7, 5}), b = draw_rows(10, 3, {7, 5});
  return [a, b](const Tensor& x, const Tensor& rows) {
    const auto times = [&](const Tensor& m) {
      return torch::bmm(m.index_select(0, rows).to(x.dtype()), x.flatten(1).unsqueeze(2)).squeeze(2);
    };
    return times(a).sin() + times(b).square();
  };
}

/// x^3 with a backward pass that refuses to be differentiated, as the fused operators do.
struct FirstOrderCube : torch::autograd::Function<FirstOrderCube> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return x * x * x;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    require<UsageError>(!torch::GradMode::is_enabled(), "first derivatives only");
    return {3 * context->get_saved_variables()[0].square() * gradients[0]};
  }
};

Tensor first_order(const Tensor& x, const Tensor&) { return FirstOrderCube::apply(x); }

TEST(Jacobian, ProductsAgreeWithDifferences) {
  const auto f = curved();
  const auto x = draw_rows(20, 3, {5}), v = draw_rows(30, 3, {5});
  const double h = 1e-5;
  const auto expected = (f(x + h * v, all_rows(3)) - f(x - h * v, all_rows(3))) / (2 * h);
  const Jacobian exact(f, x, all_rows(3)), difference(f, x, all_rows(3), JacobianProduct::difference);
  ASSERT_TRUE(exact.exact());
  ASSERT_FALSE(difference.exact());
  EXPECT_LT(relative_error(exact.product(v), expected), 1e-8);
  EXPECT_LT(relative_error(difference.product(v), exact.product(v)), 1e-8);
  EXPECT_LT(relative_error(difference.product(1e6 * v), 1e6 * exact.product(v)), 1e-8);
  EXPECT_EQ(exact.evaluations_per_product(), 1);
  EXPECT_EQ(difference.evaluations_per_product(), 2);
}

TEST(Jacobian, TheTwoProductsAreTransposes) {
  const auto x = draw_rows(20, 3, {5}), v = draw_rows(30, 3, {5}), w = draw_rows(40, 3, {7});
  const Jacobian at(curved(), x, all_rows(3));
  const torch::NoGradGuard no_grad;
  const auto left = (at.product(v) * w).sum(1), right = (at.transposed(w) * v).sum(1);
  EXPECT_LT(relative_error(left, right), 1e-13);
}

TEST(Jacobian, BelongsToTheRowsAskedFor) {
  const auto x = draw_rows(20, 3, {5}), v = draw_rows(30, 3, {5});
  const auto some = torch::tensor({2, 0}, torch::kLong);
  const Jacobian all(curved(), x, all_rows(3)), part(curved(), x.index_select(0, some), some);
  EXPECT_LT(relative_error(part.product(v.index_select(0, some)), all.product(v).index_select(0, some)), 1e-14);
  EXPECT_LT(relative_error(part.value(), all.value().index_select(0, some)), 1e-14);
}

TEST(Jacobian, TakesDifferencesWhereThereIsOneDerivative) {
  const auto x = draw_rows(20, 2, {4}), v = draw_rows(30, 2, {4});
  const Jacobian at(first_order, x, all_rows(2));
  EXPECT_FALSE(at.exact());
  EXPECT_LT(relative_error(at.product(v), 3 * x.square() * v), 1e-8);
  EXPECT_LT(relative_error(at.transposed(v), 3 * x.square() * v), 1e-14);
  EXPECT_ERROR(Jacobian(first_order, x, all_rows(2), JacobianProduct::exact), ExitCode::usage,
               "first derivatives only");
}

TEST(Jacobian, DifferencesKeepFourDigitsInSinglePrecision) {
  const auto x = draw_rows(20, 3, {5}), v = draw_rows(30, 3, {5});
  const Jacobian at(curved(), x.to(torch::kFloat32), all_rows(3), JacobianProduct::difference);
  EXPECT_LT(relative_error(at.product(v.to(torch::kFloat32)), Jacobian(curved(), x, all_rows(3)).product(v)), 1e-4);
}

TEST(Jacobian, AZeroDirectionGivesZero) {
  const auto x = draw_rows(20, 3, {5});
  const Jacobian at(curved(), x, all_rows(3), JacobianProduct::difference);
  EXPECT_EQ(at.product(torch::zeros_like(x)).abs().max().item<double>(), 0);
}

TEST(Jacobian, RefusesValuesThatAreNotRows) {
  const auto sum = [](const Tensor& x, const Tensor&) { return x.sum(1); };
  EXPECT_ERROR(Jacobian(sum, draw_rows(0, 2, {4}), all_rows(2)), ExitCode::data, "expected values (2,M), got (2)");
}

}  // namespace
}  // namespace piddm
