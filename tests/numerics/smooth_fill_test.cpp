#include "piddm/numerics/smooth_fill.h"

#include "tests/testing.h"

namespace piddm {
namespace {

Tensor random_mask(std::vector<int64_t> shape, double share) {
  return (torch::rand(shape, torch::kFloat64) < share).to(torch::kFloat64);
}

/// The matrix of sum over neighbours (c_i - c_j)^2 + 1/length^2 sum c_i^2, entry by entry.
Tensor energy_matrix(int64_t h, int64_t w, double length) {
  auto k = torch::eye(h * w, torch::kFloat64) / (length * length);
  const auto join = [&](int64_t i, int64_t j) { k[i][i] += 1, k[j][j] += 1, k[i][j] -= 1, k[j][i] -= 1; };
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x) {
      if (x + 1 < w) join(y * w + x, y * w + x + 1);
      if (y + 1 < h) join(y * w + x, (y + 1) * w + x);
    }
  return k;
}

TEST(SmoothFill, IsTheMinimiserByDenseAlgebra) {
  const int64_t h = 7, w = 5;
  const double length = 3;
  const auto k = energy_matrix(h, w, length);
  const auto mask = random_mask({2, 2, h, w}, 0.3), values = torch::randn({2, 2, h, w}, torch::kFloat64);
  const auto filled = smooth_fill(values, mask, length);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t c = 0; c < 2; ++c) {
      const auto given = mask[b][c].flatten().nonzero().squeeze(1),
                 free = (1 - mask[b][c]).flatten().nonzero().squeeze(1);
      const auto known = values[b][c].flatten().index_select(0, given);
      const auto rows = k.index_select(0, free);
      const auto expected = torch::linalg_solve(rows.index_select(1, free), -rows.index_select(1, given).mv(known));
      const auto result = filled[b][c].flatten();
      EXPECT_TRUE(torch::equal(result.index_select(0, given), known));
      EXPECT_LT(testing::relative_error(result.index_select(0, free), expected), 1e-5);
    }
}

TEST(SmoothFill, NothingGivenIsZeroAndEverythingGivenIsItself) {
  const auto values = torch::randn({1, 1, 6, 6});
  EXPECT_EQ(smooth_fill(values, torch::zeros_like(values), 8).abs().max().item<float>(), 0);
  EXPECT_TRUE(torch::equal(smooth_fill(values, torch::ones_like(values), 8), values));
}

/// c = exp(-k x) solves the screened problem on a line: k from 2 cosh k - 2 = 1/length^2.
TEST(SmoothFill, DecaysOverTheLength) {
  const double length = 4, k = std::acosh(1 + 0.5 / (length * length));
  auto values = torch::zeros({1, 1, 64, 3}, torch::kFloat64), mask = torch::zeros_like(values);
  values.select(2, 0).fill_(1), mask.select(2, 0).fill_(1);
  const auto filled = smooth_fill(values, mask, length)[0][0];
  for (const int64_t i : {1, 4, 10})
    EXPECT_NEAR(filled[i][1].item<double>(), std::exp(-k * static_cast<double>(i)), 1e-5);
}

/// A plane between the values of its rim, with little screening.
TEST(SmoothFill, KeepsLinearFields) {
  const auto row = torch::linspace(0, 1, 9, torch::kFloat64), plane = (row.unsqueeze(1) + 2 * row).view({1, 1, 9, 9});
  auto mask = torch::ones_like(plane);
  mask.narrow(2, 1, 7).narrow(3, 1, 7).zero_();
  EXPECT_LT(testing::relative_error(smooth_fill(plane, mask, 1e4), plane), 1e-5);
}

TEST(SmoothFill, NonsenseIsRefused) {
  const auto x = torch::zeros({1, 1, 4, 4});
  EXPECT_ERROR(smooth_fill(x, x, 0), ExitCode::usage, "length must be positive");
  EXPECT_ERROR(smooth_fill(x, torch::zeros({1, 1, 4, 5}), 1), ExitCode::data, "[smooth_fill] values");
}

}  // namespace
}  // namespace piddm
