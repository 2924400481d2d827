#include "piddm/data/resample.h"

#include <cmath>
#include <numbers>

#include "tests/testing.h"

namespace piddm {
namespace {

using testing::relative_error;

constexpr double kPi = std::numbers::pi;

Tensor values(const AxisPoints& points, const std::function<Tensor(const Tensor&)>& f) {
  return f(GridAxis{.name = {}, .kind = points.kind, .length = 1}.coordinates(points.points));
}

Tensor smooth(const Tensor& x) { return torch::exp(x) * torch::cos(3 * x); }
Tensor ring(const Tensor& x) { return torch::exp(torch::sin(2 * kPi * x)); }

TEST(Resample, IsOfFourthOrderForSmoothFields) {
  using K = AxisKind;
  struct Case {
    K from, to;
    bool periodic;
  };
  for (const auto& c :
       {Case{K::nodes, K::cells, false}, Case{K::cells, K::nodes, false}, Case{K::nodes, K::nodes, false},
        Case{K::cells, K::cells, false}, Case{K::periodic, K::periodic, true}, Case{K::nodes, K::periodic, true},
        Case{K::cells, K::periodic, true}}) {
    const auto& f = c.periodic ? ring : smooth;
    std::vector<double> errors;
    for (const int64_t n : {16, 32, 64, 128}) {
      const AxisPoints from{c.from, n}, to{c.to, 3 * n / 2 + 1};
      const auto got = resampling_matrix(from, to, c.periodic).matmul(values(from, f));
      errors.push_back((got - values(to, f)).abs().max().item<double>());
    }
    for (size_t i = 0; i + 1 < errors.size(); ++i)
      EXPECT_GT(std::log2(errors[i] / errors[i + 1]), i == 0 ? 3.0 : 3.5)
          << static_cast<int>(c.from) << static_cast<int>(c.to) << " " << i;
    EXPECT_LT(errors.back(), 1e-5);
  }
}

TEST(Resample, IsExactForCubicsAndGivesPointsThatAreThereAsTheyAre) {
  const auto cubic = [](const Tensor& x) { return x * x * x - 2 * x * x + 1; };
  const AxisPoints cells{AxisKind::cells, 7}, nodes{AxisKind::nodes, 12};
  EXPECT_LT(relative_error(resampling_matrix(cells, nodes, false).matmul(values(cells, cubic)), values(nodes, cubic)),
            1e-13);
  const AxisPoints half{AxisKind::nodes, 9}, all{AxisKind::nodes, 17};
  const auto there = resampling_matrix(half, all, false).slice(0, 0, 17, 2);
  EXPECT_LT((there - torch::eye(9, torch::kFloat64)).abs().max().item<double>(), 1e-13);
  EXPECT_ERROR(resampling_matrix({AxisKind::nodes, 3}, nodes, false), ExitCode::data, "at least 4");
}

TEST(Resample, TheSpacingStays) {
  EXPECT_EQ(points_at_same_spacing({AxisKind::nodes, 129}, AxisKind::cells), 128);
  EXPECT_EQ(points_at_same_spacing({AxisKind::cells, 128}, AxisKind::nodes), 129);
  EXPECT_EQ(points_at_same_spacing({AxisKind::nodes, 129}, AxisKind::periodic), 128);
  EXPECT_EQ(points_at_same_spacing({AxisKind::time, 65}, AxisKind::time), 65);
}

TEST(Resample, AnEndPointStoredTwiceIsLeftOut) {
  const auto m = resampling_matrix({AxisKind::nodes, 17}, {AxisKind::periodic, 16}, true);
  EXPECT_LT((m.narrow(1, 0, 16) - torch::eye(16, torch::kFloat64)).abs().max().item<double>(), 1e-14);
  EXPECT_EQ(m.select(1, 16).abs().max().item<double>(), 0);
}

TEST(Resample, TwoValuedCoefficientsKeepTheirValuesAndScalarsTheirs) {
  const auto fine = make_pde({.name = "darcy", .grid = 48}), coarse = make_pde({.name = "darcy", .grid = 32});
  const auto x = fine->sample(0, 0, 2);
  const auto y = spline_resample(*coarse, x, points_of(*fine));
  const auto a = y.select(1, 1);
  EXPECT_TRUE(a.eq(3).logical_or(a.eq(12)).all().item<bool>());
  const auto heat = make_pde({.name = "heat", .grid = 32}), other = make_pde({.name = "heat", .grid = {48, 20}});
  const auto h = heat->sample(0, 0, 2), g = spline_resample(*other, h, points_of(*heat));
  EXPECT_TRUE(g.select(1, 1).eq(h[0][1][0][0]).narrow(0, 0, 1).all().item<bool>());
  EXPECT_LT(relative_error(g.narrow(1, 0, 1), other->sample(0, 0, 2).narrow(1, 0, 1)), 1e-4);
}

TEST(Resample, WallsThatThePdeKnowsAreImposedOthersAreLeft) {
  const auto poisson = make_pde({.name = "poisson", .grid = 33});
  const auto x = torch::ones({1, 2, 32, 32}, torch::kFloat64);
  const GridPoints cells = {{{AxisKind::cells, 32}, {AxisKind::cells, 32}}};
  const auto y = spline_resample(*poisson, x, cells);
  EXPECT_EQ(y[0][0].select(0, 0).abs().max().item<double>(), 0);
  EXPECT_NEAR(y[0][0][1][1].item<double>(), 1, 1e-12);
  EXPECT_NEAR(y[0][1][0][0].item<double>(), 1, 1e-12);
  const auto darcy = make_pde({.name = "darcy", .grid = 32});
  const auto z = spline_resample(*darcy, torch::ones({1, 2, 33, 33}, torch::kFloat64),
                                 {{{AxisKind::nodes, 33}, {AxisKind::nodes, 33}}});
  EXPECT_NEAR(z.sub(1).abs().max().item<double>(), 0, 1e-12);
  EXPECT_ERROR(
      spline_resample(*darcy, x,
                      cells.at(0).points == 32 ? GridPoints{{{AxisKind::cells, 16}, {AxisKind::cells, 32}}} : cells),
      ExitCode::data, "expected (B,2,16,32)");
}

}  // namespace
}  // namespace piddm
