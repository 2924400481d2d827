#include "piddm/pde/grid_axis.h"

#include <cmath>

#include "piddm/pde/pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kPoints = 16;

PdePtr pde_called(const std::string& name) { return make_pde({.name = name, .grid = kPoints}); }

TEST(GridAxis, EveryPdeHasItsPositions) {
  for (const auto& name : pde_registry().names())
    for (const auto& axis : pde_called(name)->axes()) {
      const auto coordinates = axis.coordinates(kPoints);
      for (int64_t i = 0; i < kPoints; ++i)
        EXPECT_EQ(axis.nearest(coordinates[i].item<double>(), kPoints), i) << name << axis.name;
    }
}

TEST(GridAxis, TimeIsTheSecondAxisAndCalledSo) {
  for (const auto& name : pde_registry().names()) {
    const auto axes = pde_called(name)->axes();
    EXPECT_EQ(axes[0].name, "x") << name;
    EXPECT_NE(axes[0].kind, AxisKind::time) << name;
    EXPECT_EQ(axes[1].name, axes[1].kind == AxisKind::time ? "t" : "y") << name;
    EXPECT_EQ(has_time_axis(*pde_called(name)), axes[1].name == "t") << name;
  }
}

TEST(GridAxis, SomeFieldsRunInTime) {
  for (const std::string name : {"burgers", "stokes", "heat", "pme", "stefan"})
    EXPECT_TRUE(has_time_axis(*pde_called(name))) << name;
  for (const std::string name : {"darcy", "poisson", "helmholtz", "navier-stokes"})
    EXPECT_FALSE(has_time_axis(*pde_called(name))) << name;
}

TEST(GridAxis, InProblemsInTimeTheFirstStateIsGivenAndTheLastIsNot) {
  for (const auto& name : pde_registry().names()) {
    const auto given = pde_called(name)->given_boundary();
    const bool in_time = given.select(2, 0).slice(1, 1, -1).all().item<bool>() &&
                         !given.select(2, -1).slice(1, 1, -1).any().item<bool>();
    EXPECT_EQ(has_time_axis(*pde_called(name)), in_time) << name;
  }
}

// Heat's solution at t = 0 is sin(x + phi), Stokes' on the wall x = 0 is A cos(omega t): the coordinates are those of
// the equation.
TEST(GridAxis, CoordinatesAreThoseOfTheEquation) {
  const auto heat = pde_called("heat");
  const auto u = heat->sample(1, 0, 1)[0];
  EXPECT_LE((u[0].select(1, 0) - (heat->axes()[0].coordinates(kPoints) + u[1][0][0]).sin()).abs().max().item<double>(),
            1e-12);
  const auto stokes = pde_called("stokes");
  const auto v = stokes->sample(1, 0, 1)[0];
  EXPECT_LE(
      (v[0].select(0, 0) - 2 * (stokes->axes()[1].coordinates(kPoints) * v[1][0][0]).cos()).abs().max().item<double>(),
      1e-12);
  EXPECT_EQ(pde_called("stefan")->axes()[1].length, 0.1);
}

TEST(GridAxis, PointsLieByTheKindOfTheAxis) {
  const auto ends = [](AxisKind kind) {
    const auto x = GridAxis{.name = "x", .kind = kind, .length = 8}.coordinates(4);
    return std::pair{x[0].item<double>(), x[3].item<double>()};
  };
  EXPECT_EQ(ends(AxisKind::cells), std::pair(1.0, 7.0));
  EXPECT_EQ(ends(AxisKind::nodes), std::pair(0.0, 8.0));
  EXPECT_EQ(ends(AxisKind::periodic), std::pair(0.0, 6.0));
  EXPECT_EQ(ends(AxisKind::time), std::pair(0.0, 8.0));
}

TEST(GridAxis, OutsideTheDomainThereIsNothing) {
  const auto darcy = pde_called("darcy")->axes()[0];
  EXPECT_EQ(darcy.nearest(0, kPoints), 0);
  EXPECT_EQ(darcy.nearest(1, kPoints), 15);
  EXPECT_FALSE(darcy.nearest(-1e-9, kPoints).has_value());
  EXPECT_FALSE(darcy.nearest(1.001, kPoints).has_value());
  EXPECT_FALSE(darcy.nearest(NAN, kPoints).has_value());
  EXPECT_EQ(pde_called("burgers")->axes()[0].nearest(0.99, kPoints), 0);
}

TEST(GridAxis, LabelsShowTheUnit) {
  EXPECT_EQ((GridAxis{.name = "t", .kind = AxisKind::time}.label()), "t");
  EXPECT_EQ((GridAxis{.name = "t", .kind = AxisKind::time, .length = 2, .unit = "s"}.label()), "t (s)");
}

}  // namespace
}  // namespace piddm
