// Tables of entries against dense matrices.

#include "piddm/pde/text/stencil_matrix.h"

#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

using testing::largest;
using testing::numbers;

struct Shape {
  int64_t fields;
  std::array<int64_t, 2> points, reach;
  std::array<bool, 2> periodic;
};

const std::vector<Shape> kShapes = {{1, {6, 5}, {1, 1}, {false, false}},
                                    {2, {8, 7}, {1, 1}, {true, true}},
                                    {1, {9, 4}, {1, 0}, {true, false}},
                                    {2, {12, 1}, {2, 0}, {false, false}},
                                    {1, {11, 1}, {11, 0}, {true, false}}};

/// Random entries where the pattern has some, [B,P,F,X,Y], and the dense matrices [B,n,n] they stand for.
std::pair<Tensor, Tensor> random_matrix(const StencilPattern& pattern, int64_t batch) {
  const auto [x, y] = pattern.points();
  const int64_t n = pattern.unknowns(), f = pattern.fields();
  const Tensor seen = pattern.seen().unsqueeze(1).to(torch::kFloat64);
  const Tensor entries = numbers({batch, pattern.colours(), f, x, y}) * seen;
  const Tensor dense = torch::zeros({batch, n, n}, torch::kFloat64);
  const Tensor rows = torch::arange(n).view({f, x, y});
  for (int64_t p = 0; p < pattern.colours(); ++p) {
    const Tensor columns = pattern.columns()[p].unsqueeze(0).expand({f, x, y}).flatten();
    for (int64_t b = 0; b < batch; ++b) dense[b].index_put_({rows.flatten(), columns}, entries[b][p].flatten(), true);
  }
  return {entries, dense};
}

TEST(StencilMatrix, ProductsAreThoseOfTheDenseMatrix) {
  for (const auto& shape : kShapes) {
    const StencilPattern pattern(shape.fields, shape.points, shape.reach, shape.periodic);
    const auto [entries, dense] = random_matrix(pattern, 2);
    const Tensor v = numbers({2, shape.fields, shape.points[0], shape.points[1]}, 3);
    const Tensor flat = v.flatten(1).unsqueeze(2);
    EXPECT_LT(largest(stencil_product(pattern, entries, v).flatten(1) - dense.matmul(flat).squeeze(2)), 1e-13);
    EXPECT_LT(
        largest(stencil_transposed(pattern, entries, v).flatten(1) - dense.transpose(1, 2).matmul(flat).squeeze(2)),
        1e-13);
  }
}

TEST(StencilMatrix, NoRowSeesTwoColumnsOfAColourAndEveryNeighbourIsSeenOnce) {
  for (const auto& [fields, points, reach, periodic] : kShapes) {
    const StencilPattern pattern(fields, points, reach, periodic);
    const auto distance = [&](int64_t i, int64_t j, size_t a) {
      const int64_t d = std::abs(i - j);
      return periodic[a] ? std::min(d, points[a] - d) : d;
    };
    const Tensor seeds = pattern.seeds().flatten(1), columns = pattern.columns(), seen = pattern.seen();
    EXPECT_EQ(largest(seeds.sum(0) - 1), 0);
    for (int64_t p = 0; p < pattern.colours(); ++p)
      for (int64_t i = 0; i < points[0]; ++i)
        for (int64_t j = 0; j < points[1]; ++j) {
          int64_t within = 0, column = -1;
          for (int64_t c = 0; c < pattern.unknowns(); ++c) {
            const int64_t x = c / points[1] % points[0], y = c % points[1];
            const bool near = distance(i, x, 0) <= reach[0] && distance(j, y, 1) <= reach[1];
            if (near && seeds[p][c].item<double>() == 1) ++within, column = c;
          }
          ASSERT_LE(within, 1);
          ASSERT_EQ(seen[p][i][j].item<bool>(), within == 1);
          if (within == 1) {
            ASSERT_EQ(columns[p][i][j].item<int64_t>(), column);
          }
        }
  }
}

TEST(StencilMatrix, MasksFindTheOwnUnknownAndItsNeighbours) {
  const StencilPattern pattern(2, {7, 5}, {1, 1}, {true, false});
  const Tensor own = pattern.own(), along_x = pattern.neighbours(0), along_y = pattern.neighbours(1);
  EXPECT_EQ(largest(own.sum(0) - 1), 0);
  EXPECT_EQ(largest(along_x.sum(0) - 2), 0);
  EXPECT_EQ(along_y.sum(0)[0][3][0].item<double>(), 1);
  EXPECT_EQ(along_y.sum(0)[0][3][2].item<double>(), 2);
  EXPECT_EQ(pattern.same_field().sum(0)[1][3][2].item<double>(), 9);
  const Tensor v = numbers({1, 2, 7, 5});
  EXPECT_EQ(largest(stencil_product(pattern, own.unsqueeze(0), v) - v), 0);
  const Tensor shifted = torch::roll(v, 1, 2) + torch::roll(v, -1, 2);
  EXPECT_LT(largest(stencil_product(pattern, along_x.unsqueeze(0), v) - shifted), 1e-15);
}

}  // namespace
}  // namespace piddm
