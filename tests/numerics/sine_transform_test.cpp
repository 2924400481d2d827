#include "piddm/numerics/sine_transform.h"

#include <cmath>
#include <numbers>

#include "piddm/numerics/serial_gemm.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::gradient_error;
using piddm::testing::relative_error;

/// Second difference with ghost value sign * u, on the rows of [n,n] transforms (each row is one mode).
Tensor second_difference(const Tensor& modes, double h, double sign) {
  const int64_t n = modes.size(1);
  const Tensor padded = torch::cat({sign * modes.narrow(1, 0, 1), modes, sign * modes.narrow(1, n - 1, 1)}, 1);
  return (2 * modes - padded.narrow(1, 0, n) - padded.narrow(1, 2, n)) / (h * h);
}

TEST(SerialGemm, MatchesBlasForAnyShape) {
  for (const auto& [p, q, n] : {std::array<int64_t, 3>{1, 1, 1}, {4, 32, 8}, {7, 33, 5}, {65, 31, 100}, {3, 64, 1}}) {
    for (const auto dtype : {torch::kFloat64, torch::kFloat32}) {
      const Tensor a = torch::randn({p, n}, dtype), b = torch::randn({n, q}, dtype),
                   c = torch::full({p, q}, NAN, dtype);
      if (dtype == torch::kFloat64)
        serial_gemm(p, q, n, a.data_ptr<double>(), b.data_ptr<double>(), c.data_ptr<double>());
      else
        serial_gemm(p, q, n, a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>());
      EXPECT_LT(relative_error(c, a.mm(b)), dtype == torch::kFloat64 ? 1e-14 : 1e-5) << p << " " << q << " " << n;
    }
  }
}

TEST(SerialGemm, TakesPartsOfLargerMatrices) {
  const Tensor a = torch::randn({20, 15}, torch::kFloat64), b = torch::randn({18, 40}, torch::kFloat64),
               c = torch::full({30, 50}, 7, torch::kFloat64);
  const auto at = [](const Tensor& t, int64_t i, int64_t j) { return t.data_ptr<double>() + i * t.size(1) + j; };
  serial_gemm(9, 19, 11, {at(a, 2, 3), 15}, {at(b, 1, 5), 40}, {at(c, 4, 6), 2 * 50});
  const Tensor expected = a.narrow(0, 2, 9).narrow(1, 3, 11).mm(b.narrow(0, 1, 11).narrow(1, 5, 19));
  const Tensor touched = c.slice(0, 4, 22, 2).narrow(1, 6, 19);
  EXPECT_LT(relative_error(touched, expected), 1e-14);
  touched.fill_(7);
  EXPECT_TRUE((c == 7).all().item<bool>());
}

TEST(SineTransform, OrthonormalForAnySize) {
  for (const int64_t n : {1, 2, 5, 16, 33, 128})
    for (const Tensor& m : {sine_matrix(n), cosine_matrix(n), node_sine_matrix(n)})
      EXPECT_LT((m.mm(m.t()) - torch::eye(n, torch::kFloat64)).abs().max().item<double>(), 1e-14) << n;
}

TEST(SineTransform, KnownEntries) {
  EXPECT_NEAR(sine_matrix(4)[1][0].item<double>(), std::sqrt(0.5) * std::sin(std::numbers::pi / 4), 1e-15);
  EXPECT_NEAR(sine_matrix(4)[3][1].item<double>(), -0.5, 1e-15);
  EXPECT_NEAR(cosine_matrix(4)[0][2].item<double>(), 0.5, 1e-15);
  EXPECT_NEAR(cosine_matrix(4)[1][3].item<double>(), -std::sqrt(0.5) * std::cos(std::numbers::pi / 8), 1e-15);
}

TEST(SineTransform, DiagonalisesTheSecondDifference) {
  constexpr int64_t n = 9;
  constexpr double h = 0.3;
  const Tensor lambda = sine_eigenvalues(n, h), s = sine_matrix(n), c = cosine_matrix(n);
  EXPECT_LT(relative_error(second_difference(s, h, -1), lambda.unsqueeze(1) * s), 1e-13);
  const Tensor neumann = torch::cat({torch::zeros({1}, torch::kFloat64), lambda.narrow(0, 0, n - 1)});
  EXPECT_LT(relative_error(second_difference(c, h, 1), neumann.unsqueeze(1) * c), 1e-13);
}

TEST(SineTransform, NodesDiagonaliseTheSecondDifference) {
  constexpr int64_t n = 10;
  constexpr double h = 0.3;
  const Tensor s = node_sine_matrix(n), padded = torch::constant_pad_nd(s, {1, 1});
  const Tensor difference = (2 * s - padded.narrow(1, 0, n) - padded.narrow(1, 2, n)) / (h * h);
  EXPECT_LT(relative_error(difference, node_sine_eigenvalues(n, h).unsqueeze(1) * s), 1e-13);
  EXPECT_LT((s - s.t()).abs().max().item<double>(), 1e-15);
}

TEST(SineTransform, RoundTripsOnRectangles) {
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{7, 12}, {16, 9}, {1, 2}, {33, 128}, {5, 5}}) {
    const Tensor x = torch::randn({3, 2, n, m}, torch::kFloat64);
    EXPECT_LT(relative_error(inverse_sine_transform(sine_transform(x)), x), 1e-14);
    EXPECT_LT(relative_error(inverse_cosine_transform(cosine_transform(x)), x), 1e-14);
    EXPECT_LT(relative_error(node_sine_transform(node_sine_transform(x)), x), 1e-14);
  }
}

TEST(SineTransform, AgreesWithTheFullMatrices) {
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{7, 12}, {16, 9}, {2, 1}, {31, 64}}) {
    const Tensor x = torch::randn({2, n, m}, torch::kFloat64);
    const auto full = [&](const Tensor& left, const Tensor& right) {
      return torch::matmul(torch::matmul(left, x), right.t());
    };
    EXPECT_LT(relative_error(sine_transform(x), full(sine_matrix(n), sine_matrix(m))), 1e-14);
    EXPECT_LT(relative_error(cosine_transform(x), full(cosine_matrix(n), cosine_matrix(m))), 1e-14);
    EXPECT_LT(relative_error(node_sine_transform(x), full(node_sine_matrix(n), node_sine_matrix(m))), 1e-14);
    EXPECT_LT(relative_error(inverse_cosine_transform(x), full(cosine_matrix(n).t(), cosine_matrix(m).t())), 1e-14);
    EXPECT_LT(relative_error(apply_both_axes(sine_matrix(n), x, sine_matrix(m).t()), sine_transform(x)), 1e-14);
  }
}

TEST(SineTransform, KeepsTheDtype) {
  const Tensor x = torch::randn({2, 1, 16, 16});
  EXPECT_EQ(sine_transform(x).scalar_type(), torch::kFloat32);
  EXPECT_LT(relative_error(sine_transform(x), sine_transform(x.to(torch::kFloat64))), 1e-6);
  EXPECT_LT(relative_error(sine_transform(x.to(torch::kBFloat16)), sine_transform(x)), 0.05);
}

TEST(SineTransform, DifferentiableAlsoAfterInferenceMode) {
  {
    const c10::InferenceMode inference;
    sine_matrix(11);
  }
  const Tensor x = torch::randn({2, 1, 11, 11}, torch::kFloat64);
  EXPECT_LT(gradient_error([](const Tensor& y) { return sine_transform(y).pow(3).sum(); }, x), 1e-6);
  const Tensor leaf = x.clone().requires_grad_(true);
  const Tensor gradient = torch::autograd::grad({sine_transform(leaf).pow(3).sum()}, {leaf}, {}, true, true)[0];
  EXPECT_LT(relative_error(torch::autograd::grad({gradient.sum()}, {leaf})[0],
                           inverse_sine_transform(6 * sine_transform(x) * sine_transform(torch::ones_like(x)))),
            1e-13);
}

TEST(SineTransform, BitsDoNotDependOnTheBatch) {
  const Tensor x = torch::randn({8, 1, 32, 32}, torch::kFloat64), all = sine_transform(x);
  for (int64_t i = 0; i < 8; ++i) EXPECT_TRUE(torch::equal(sine_transform(x.narrow(0, i, 1)), all.narrow(0, i, 1)));
}

TEST(SineTransform, Errors) {
  EXPECT_ERROR(apply_both_axes(sine_matrix(4), torch::zeros({5, 4}), sine_matrix(4)), ExitCode::data, "(5,4)");
  EXPECT_ERROR(apply_both_axes(sine_matrix(4), torch::zeros({4, 4}), sine_matrix(4)), ExitCode::data, "dtype");
  EXPECT_ERROR(sine_matrix(0), ExitCode::usage, "0 points");
}

}  // namespace
}  // namespace piddm
