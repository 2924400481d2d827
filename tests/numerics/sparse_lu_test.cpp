#include "piddm/numerics/sparse_lu.h"

#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::relative_error;

struct Triplets {
  std::vector<int64_t> rows, columns;
  std::vector<double> values;

  void add(int64_t row, int64_t column, double value) {
    rows.push_back(row);
    columns.push_back(column);
    values.push_back(value);
  }
  Tensor row_tensor() const { return torch::tensor(rows, torch::kInt64); }
  Tensor column_tensor() const { return torch::tensor(columns, torch::kInt64); }
  Tensor value_tensor() const { return torch::tensor(values, torch::kFloat64); }
  Tensor dense(int64_t n) const {
    const Tensor a = torch::zeros({n, n}, torch::kFloat64);
    return a.index_put({row_tensor(), column_tensor()}, value_tensor(), true);
  }
};

/// Five-point Laplacian on h x w cells plus advection, entry by entry, walls with zero flux; `shift` on the diagonal.
Triplets five_points(int64_t h, int64_t w, double shift, double advection) {
  Triplets out;
  for (int64_t i = 0; i < h; ++i)
    for (int64_t j = 0; j < w; ++j) {
      const int64_t p = i * w + j;
      out.add(p, p, shift);
      for (const auto& [di, dj] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        const int64_t k = i + di, l = j + dj;
        if (k < 0 || k >= h || l < 0 || l >= w) continue;
        out.add(p, p, 1);  // the entry (p,p) comes up to five times
        out.add(p, k * w + l, -1 + advection * (di + dj));
      }
    }
  return out;
}

SparseLu factorised(int64_t n, const Triplets& a) {
  SparseLu lu(n, a.row_tensor(), a.column_tensor());
  lu.factorise(a.value_tensor());
  return lu;
}

TEST(SparseLu, SolvesAndSolvesTransposed) {
  constexpr int64_t n = 7 * 9;
  const Triplets a = five_points(7, 9, 0.3, 0.4);
  const SparseLu lu = factorised(n, a);
  const Tensor b = torch::randn({3, n}, torch::kFloat64);
  EXPECT_LT(relative_error(lu.solve(b).t(), torch::linalg_solve(a.dense(n), b.t())), 1e-12);
  EXPECT_LT(relative_error(lu.transposed_solve(b).t(), torch::linalg_solve(a.dense(n).t(), b.t())), 1e-12);
  EXPECT_TRUE(torch::equal(lu.solve(b[1]), lu.solve(b)[1]));
}

TEST(SparseLu, ThePatternServesOtherValues) {
  constexpr int64_t n = 6 * 6;
  const Triplets first = five_points(6, 6, 1, 0), second = five_points(6, 6, 0.1, 0.9);
  SparseLu lu(n, first.row_tensor(), first.column_tensor());
  const Tensor b = torch::randn({n}, torch::kFloat64);
  lu.factorise(first.value_tensor());
  const Tensor before = lu.solve(b);
  lu.factorise(second.value_tensor());
  EXPECT_LT(relative_error(lu.solve(b), torch::linalg_solve(second.dense(n), b)), 1e-12);
  lu.factorise(first.value_tensor());
  EXPECT_TRUE(torch::equal(lu.solve(b), before));
  EXPECT_TRUE(torch::equal(factorised(n, first).solve(b), before));
}

TEST(SparseLu, RowsOfAnyOrderAndSizeArePivoted) {
  Triplets a;  // no entry on the diagonal, rows of very different size
  for (int64_t i = 0; i < 30; ++i) {
    a.add(i, (i + 1) % 30, std::pow(10.0, static_cast<double>(i % 7)));
    a.add(i, (i + 4) % 30, 0.25);
  }
  const Tensor b = torch::randn({30}, torch::kFloat64);
  EXPECT_LT(relative_error(factorised(30, a).solve(b), torch::linalg_solve(a.dense(30), b)), 1e-11);
}

TEST(SparseLu, EstimatesTheConditionNumber) {
  for (const double shift : {1.0, 1e-3, 1e-8}) {
    const Triplets a = five_points(6, 8, shift, 0.2);
    const Tensor dense = a.dense(48), inverse = torch::linalg_inv(dense);
    const auto norm = [](const Tensor& m) { return m.abs().sum(0).max().item<double>(); };
    const double condition = norm(dense) * norm(inverse), estimate = factorised(48, a).condition();
    EXPECT_LT(estimate, 1.001 * condition) << shift;
    EXPECT_GT(estimate, condition / 3) << shift;
  }
}

TEST(SparseLu, SingularMatricesAreErrors) {
  for (const int64_t side : {2, 5, 16, 40}) {  // zero flux through every wall: a constant is in the kernel
    const Triplets a = five_points(side, side + 1, 0, 0);
    EXPECT_ERROR(factorised(side * (side + 1), a), ExitCode::numerics, "is singular");
  }
  Triplets empty_row = five_points(4, 4, 1, 0);
  for (size_t k = 0; k < empty_row.rows.size(); ++k)
    if (empty_row.rows[k] == 5) empty_row.values[k] = 0;
  EXPECT_ERROR(factorised(16, empty_row), ExitCode::numerics, "is singular");
}

TEST(SparseLu, WrongRequestsAreErrors) {
  const Triplets a = five_points(3, 3, 1, 0);
  SparseLu lu(9, a.row_tensor(), a.column_tensor());
  const Tensor b = torch::zeros({9}, torch::kFloat64);
  EXPECT_ERROR(lu.solve(b), ExitCode::usage, "solve before factorise");
  EXPECT_ERROR(lu.factorise(b), ExitCode::data, "got (9)");
  lu.factorise(a.value_tensor());
  EXPECT_ERROR(lu.solve(torch::zeros({8}, torch::kFloat64)), ExitCode::data, "got (8)");
  EXPECT_ERROR(SparseLu(8, a.row_tensor(), a.column_tensor()), ExitCode::data, "outside the matrix of 8 rows");
}

}  // namespace
}  // namespace piddm
