// Banded matrices against dense ones, by kernel and by tensor operations.

#include "piddm/pde/text/band.h"

#include "piddm/pde/text/text_bands.h"
#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

using testing::largest;
using testing::numbers;
using testing::pde_text;

constexpr int64_t kColumns = 9;

/// Every form of a run: differences, means, second differences, ends with constants, single entries, none, a ring.
std::vector<Band> bands() {
  const auto step = Band::shifting(kColumns, kColumns - 1, 0, {-3, 3}),
             mean = Band::shifting(kColumns, kColumns - 1, 0, {0.5, 0.5});
  return {step,
          mean,
          Band::shifting(kColumns, kColumns - 2, 0, {4, -8, 4}),
          Band::shifting(kColumns, kColumns - 3, 1, {1.5, -2, 0.5}),
          Band::shifting(kColumns, kColumns - 1, 1, {1}),
          Band::shifting(kColumns, kColumns, -1, {-3, 3}, true),
          Band::shifting(kColumns, kColumns, -1, {1, 2, -3}, true),
          mean.between({.entries = {{0, 0.25}}, .constant = 2}, {.entries = {{8, 1.5}, {7, -2}, {6, 0.5}, {8, 0.5}}}),
          step.between({}, {.constant = -1}),
          Band::shifting(kColumns - 1, kColumns - 2, 0, {-2, 2}).after(step)};
}

/// The matrix and its constants, column by column.
std::pair<Tensor, Tensor> dense(const Band& band) {
  const Tensor constants = band.composed(torch::zeros({kColumns}, torch::kFloat64), -1);
  const Tensor matrix = band.composed(torch::eye(kColumns, torch::kFloat64), -1, false).t().contiguous();
  return {matrix, constants};
}

Tensor product(const std::pair<Tensor, Tensor>& by, const Tensor& x, int64_t dim) {
  return (torch::matmul(x.movedim(dim, -1), by.first.t()) + by.second).movedim(-1, dim);
}

TEST(Band, IsTheDenseMatrixAlongEveryAxisAndInEveryLayout) {
  for (const auto& band : bands()) {
    const auto matrix = dense(band);
    EXPECT_EQ(band.columns(), kColumns);
    EXPECT_EQ(matrix.first.size(0), band.rows());
    const Tensor last = numbers({3, 4, kColumns}), middle = numbers({3, kColumns, 5}),
                 first = numbers({kColumns, 4, 2});
    const auto expect = [&](const Tensor& x, int64_t dim) {
      EXPECT_LT(largest(band(x, dim) - product(matrix, x, dim)), 1e-13);
      EXPECT_LT(largest(band.composed(x, dim) - product(matrix, x, dim)), 1e-13);
    };
    expect(last, -1);
    expect(middle, -2);
    expect(first, -3);
    expect(middle.permute({2, 0, 1}), -1);
    expect(last.permute({0, 2, 1}), -2);
    expect(numbers({3, 2, 2 * kColumns}).narrow(2, 4, kColumns), -1);
    expect(numbers({3, 6, kColumns}).narrow(1, 2, 3), -1);
    expect(numbers({1, kColumns, 1}).expand({4, kColumns, 3}), -2);
  }
}

TEST(Band, SinglePrecisionIsRoundedOnce) {
  for (const auto& band : bands()) {
    const Tensor x = numbers({3, kColumns, 5}).to(torch::kFloat32);
    const Tensor exact = band(x.to(torch::kFloat64), -2);
    EXPECT_LT(largest(band(x, -2).to(torch::kFloat64) - exact), 3e-7 * (1 + largest(exact)));
    const Tensor near = 1000 + 1e-2 * numbers({3, kColumns, 5}).to(torch::kFloat32);  // differences cancel
    EXPECT_LT(largest(band(near, -2).to(torch::kFloat64) - band(near.to(torch::kFloat64), -2)),
              1e-7 * largest(band(near.to(torch::kFloat64), -2)));
  }
}

TEST(Band, GradientsAreThoseOfTensorOperationsTwice) {
  for (const auto& band : bands()) {
    const Tensor w = numbers({3, band.rows(), 5}, 2);
    const auto gradients = [&](bool kernel) {
      const Tensor x = numbers({3, kColumns, 5}).requires_grad_(true);
      const Tensor y = (kernel ? band(x, -2) : band.composed(x, -2)).square() * w;
      const Tensor once = torch::autograd::grad({y.sum()}, {x}, {}, true, true)[0];
      const Tensor twice = torch::autograd::grad({(once * numbers(x.sizes().vec(), 4)).sum()}, {x})[0];
      return std::pair{once.detach(), twice};
    };
    const auto [once, twice] = gradients(true);
    const auto [expected, expected_twice] = gradients(false);
    EXPECT_LT(largest(once - expected), 1e-11);
    EXPECT_LT(largest(twice - expected_twice), 1e-11);
  }
}

TEST(Band, LayoutsArePreserved) {
  const auto band = Band::shifting(kColumns, kColumns - 1, 0, {-3, 3});
  const Tensor x = numbers({2, 5, kColumns}).permute({0, 2, 1});
  const Tensor y = band(x, -2);
  EXPECT_EQ(y.sizes(), torch::IntArrayRef({2, kColumns - 1, 5}));
  EXPECT_EQ(y.stride(1), 1);
}

TEST(TextBands, HaveWallsOfConstantNumbersOnly) {
  const auto of = [](const std::string& kind, const std::string& wall) {
    const auto text = pde_text("name = 'b'\nequation = '-div(a*grad(u)) = 1'\ngrid = { x = [0, 1, 16, '" + kind +
                               "'], y = [0, 1, 16, 'cells'] }\n"
                               "boundary = { x = '" +
                               wall + "', y = 'u = 0' }\ncoefficients = { a = 'data: field' }\n");
    const TextGrid grid(text, {16, 16});
    return std::pair{grid.bands().of_field("u", 0), grid.bands().of_field("a", 0)};
  };
  for (const char* const wall : {"u = 3", "dn(u) = 1", "dn(u) + 2*u = 1"})
    for (const char* const kind : {"cells", "nodes"}) {
      const auto u = of(kind, wall).first;
      EXPECT_TRUE(u.on_faces && u.slope_on_faces && u.first && u.second) << kind << " " << wall;
    }
  const auto [u, a] = of("cells", "a*dn(u) + 2*u = 1");
  EXPECT_FALSE(u.on_faces || u.slope_on_faces || u.first || u.second);
  EXPECT_FALSE(a.on_faces || a.first);
  EXPECT_TRUE(a.slope_on_faces && a.second);
  EXPECT_TRUE(of("cells", "u = 3").second.on_faces);
  EXPECT_FALSE(of("nodes", "dn(u) + 2*u = y").first.first);
}

}  // namespace
}  // namespace piddm
