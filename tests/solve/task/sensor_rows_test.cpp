#include "piddm/solve/task/sensor_rows.h"

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

const Channel kPlain{.name = "u"};
const Channel kWalled{.name = "u", .zero_on = ZeroOn::wall};
const Channel kStepwise{.name = "a", .role = Role::coefficient, .two_valued = std::pair{0.0, 1.0}};

/// f at the grid of the PDE.
Tensor field(const Pde& pde, const std::function<Tensor(const Tensor&, const Tensor&)>& f) {
  const auto x = pde.axes()[0].coordinates(pde.grid().height()), y = pde.axes()[1].coordinates(pde.grid().width());
  return f(x.unsqueeze(1), y.unsqueeze(0)).expand({pde.grid().height(), pde.grid().width()}).contiguous();
}

double seen(const SensorRow& row, const Tensor& values) {
  double sum = 0;
  const auto flat = values.flatten();
  for (const auto& [entry, weight] : row.weights) sum += weight * flat[entry].item<double>();
  return sum;
}

Tensor bilinear(const Tensor& x, const Tensor& y) { return 2 + 3 * x - y + 4 * x * y; }

std::vector<PdePtr> cells_and_nodes() {
  return {make_pde({.name = "darcy", .grid = {16, 24}, .parameters = {{"length_y", 1.5}}}),
          make_pde({.name = "poisson", .grid = {17, 20}})};
}

TEST(SensorRows, PointsAndAveragesOfABilinearFieldAreExact) {
  for (const auto& pde : cells_and_nodes()) {
    const auto u = field(*pde, bilinear);
    const auto f = [](double x, double y) { return 2 + 3 * x - y + 4 * x * y; };
    for (const auto& [x, y] : {std::pair(0.3, 0.77), {0.0, 0.0}, {1.0, 0.99}, {0.011, 0.5}})
      EXPECT_NEAR(seen(point_row(*pde, kPlain, {x, y}), u), f(x, y), 1e-12) << pde->name();
    // along (x, y) = (0.1 + 0.7 t, 0.9 - 0.5 t) the mean of 4 x y is 4 (0.09 + (0.63 - 0.05)/2 - 0.35/3)
    const double line = 2 + 3 * 0.45 - 0.65 + 4 * (0.09 + 0.58 / 2 - 0.35 / 3);
    EXPECT_NEAR(seen(line_row(*pde, kPlain, {0.1, 0.9}, {0.8, 0.4}), u), line, 1e-12) << pde->name();
    EXPECT_NEAR(seen(box_row(*pde, kPlain, {0.8, 0.4}, {0.1, 0.9}), u), f(0.45, 0.65), 1e-12) << pde->name();
    EXPECT_NEAR(seen(line_row(*pde, kPlain, {0.3, 0.1}, {0.3, 0.9}), u), f(0.3, 0.5), 1e-12) << pde->name();
  }
}

/// sin(pi x) sin(pi y) vanishes on all walls.
Tensor sines(const Tensor& x, const Tensor& y) { return (M_PI * x).sin() * (M_PI * y).sin(); }

TEST(SensorRows, AreOfSecondOrder) {
  struct Case {
    std::string name;
    SensorRow (*row)(const Pde&, const Channel&);
    double exact;
  };
  const double box = (std::cos(0.1 * M_PI) - std::cos(0.6 * M_PI)) * (std::cos(0.2 * M_PI) - std::cos(0.9 * M_PI)) /
                     (0.5 * 0.7 * M_PI * M_PI);
  const double flux = -(std::cos(0.25 * M_PI) - std::cos(0.9 * M_PI));  // -int_0.25^0.9 pi sin(pi y) dy
  const std::vector<Case> cases = {{"point",
                                    [](const Pde& p, const Channel& c) {
                                      return point_row(p, c, {0.37123, 0.58917});
                                    },
                                    std::sin(0.37123 * M_PI) * std::sin(0.58917 * M_PI)},
                                   {"line",
                                    [](const Pde& p, const Channel& c) {
                                      return line_row(p, c, {0, 0}, {1, 1});
                                    },
                                    0.5},
                                   {"box",
                                    [](const Pde& p, const Channel& c) {
                                      return box_row(p, c, {0.1, 0.2}, {0.6, 0.9});
                                    },
                                    box},
                                   {"flux at the beginning",
                                    [](const Pde& p, const Channel& c) {
                                      return flux_row(p, c, {0, 0.25}, {0, 0.9});
                                    },
                                    flux},
                                   {"flux at the end",
                                    [](const Pde& p, const Channel& c) {
                                      return flux_row(p, c, {0.9, 1}, {0.25, 1});
                                    },
                                    flux}};
  for (const std::string pde_name : {"darcy", "poisson"})
    for (const auto& one : cases) {
      std::vector<double> errors;
      for (const int64_t n : {16, 32, 64, 128}) {
        const auto pde = make_pde({.name = pde_name, .grid = n});
        const auto& channel = pde_name == "darcy" ? kWalled : kPlain;
        errors.push_back(std::abs(seen(one.row(*pde, channel), field(*pde, sines)) - one.exact));
      }
      const double order = std::log2(errors.front() / errors.back()) / 3;
      EXPECT_GT(order, 1.8) << pde_name << " " << one.name << " " << errors.back();
      EXPECT_LT(errors.back(), 1e-3) << pde_name << " " << one.name;
    }
}

TEST(SensorRows, KnowTheZeroOnAWall) {
  const auto pde = make_pde({.name = "darcy", .grid = 16});
  const auto one = torch::ones({16, 16}, torch::kFloat64);
  EXPECT_NEAR(seen(point_row(*pde, kWalled, {0.25 / 16, 0.5}), one), 0.5, 1e-12);
  EXPECT_NEAR(seen(point_row(*pde, kWalled, {0.5, 1 - 0.125 / 16}), one), 0.25, 1e-12);
  EXPECT_NEAR(seen(point_row(*pde, kPlain, {0.25 / 16, 0.5}), one), 1, 1e-12);
  EXPECT_TRUE(point_row(*pde, kWalled, {0, 0.5}).weights.empty());
}

TEST(SensorRows, ACoefficientOfTwoValuesIsConstantInItsCells) {
  const auto pde = make_pde({.name = "darcy", .grid = 16});
  auto a = torch::zeros({16, 16}, torch::kFloat64);
  a[4][7] = 1;  // the square from (0.25, 0.4375) to (0.3125, 0.5)
  EXPECT_EQ(seen(point_row(*pde, kStepwise, {0.26, 0.49}), a), 1);
  EXPECT_EQ(seen(point_row(*pde, kStepwise, {0.24, 0.49}), a), 0);
  EXPECT_NEAR(seen(box_row(*pde, kStepwise, {0.25, 0.375}, {0.375, 0.5}), a), 0.25, 1e-12);
  EXPECT_NEAR(seen(line_row(*pde, kStepwise, {0.0, 0.45}, {1.0, 0.45}), a), 1.0 / 16, 1e-12);
  EXPECT_NEAR(seen(line_row(*pde, kStepwise, {0.25, 0.4375}, {0.3125, 0.5}), a), 1, 1e-12);
}

TEST(SensorRows, APeriodicAxisGoesOnAtItsBeginning) {
  const auto pde = make_pde({.name = "burgers", .grid = 16});  // x periodic
  const double length = pde->axes()[0].length, last = 15.25 / 16 * length;
  const auto cosine = field(*pde, [&](const Tensor& x, const Tensor&) { return (2 * M_PI / length * x).cos(); });
  const double left = std::cos(2 * M_PI * 15 / 16);
  EXPECT_NEAR(seen(point_row(*pde, kPlain, {last, 0}), cosine), 0.75 * left + 0.25, 1e-12);
  EXPECT_NEAR(seen(line_row(*pde, kPlain, {0, 0}, {length, 0}), cosine), 0, 1e-12);
}

TEST(SensorRows, PlacesNearAnEntryAreIt) {
  const auto darcy = make_pde({.name = "darcy", .grid = 16});
  EXPECT_EQ(entry_at(*darcy, {4.5 / 16, 0.0313}), 4 * 16 + 0);
  EXPECT_EQ(entry_at(*darcy, {0.25, 0.25}), std::nullopt);
  EXPECT_EQ(entry_at(*darcy, {0, 0.5 / 16}), std::nullopt);
  const auto burgers = make_pde({.name = "burgers", .grid = 16});
  EXPECT_EQ(entry_at(*burgers, {burgers->axes()[0].length, 0}), 0);
}

}  // namespace
}  // namespace piddm
