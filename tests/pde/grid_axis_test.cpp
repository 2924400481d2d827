#include "piddm/pde/grid_axes.h"

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

TEST(GridAxes, EveryPdeHasItsPositions) {
  for (const auto& name : pde_registry().names()) {
    const auto axes = grid_axes(*make_pde({.name = name, .grid = 16}));
    for (const auto& axis : {axes.h, axes.w})
      for (int64_t i = 0; i < 16; ++i)
        EXPECT_EQ(axis.nearest(axis.first + static_cast<double>(i) * axis.spacing), i) << name;
  }
}

// Heat's solution at t = 0 is sin(x + phi), Stokes' on the wall x = 0 is A cos(omega t): the coordinates are those of
// the equation.
TEST(GridAxes, CoordinatesAreThoseOfTheEquation) {
  const auto heat = make_pde({.name = "heat", .grid = 16});
  const auto x = heat->sample(1, 0, 1);
  const auto axis = grid_axes(*heat).h;
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_NEAR(x[0][0][i][0].item<double>(),
                std::sin(axis.first + static_cast<double>(i) * axis.spacing + x[0][1][0][0].item<double>()), 1e-12);
  const auto stokes = make_pde({.name = "stokes", .grid = 16});
  const auto y = stokes->sample(1, 0, 1);
  const auto time = grid_axes(*stokes).w;
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_NEAR(y[0][0][0][i].item<double>(),
                2 * std::cos(y[0][1][0][0].item<double>() * (time.first + static_cast<double>(i) * time.spacing)),
                1e-12);
}

TEST(GridAxes, OutsideTheDomainThereIsNothing) {
  const auto darcy = grid_axes(*make_pde({.name = "darcy", .grid = 16})).h;
  EXPECT_EQ(darcy.nearest(0), 0);
  EXPECT_EQ(darcy.nearest(1), 15);
  EXPECT_FALSE(darcy.nearest(-1e-9).has_value());
  EXPECT_FALSE(darcy.nearest(1.001).has_value());
  EXPECT_FALSE(darcy.nearest(NAN).has_value());
  const auto ring = grid_axes(*make_pde({.name = "burgers", .grid = 16})).h;
  EXPECT_EQ(ring.nearest(0.99), 0);
}

}  // namespace
}  // namespace piddm
