// Wall conditions and initial states.

#include "tests/language/files.h"
#include "tests/language/jet.h"
#include "tests/language/trees.h"

namespace piddm {
namespace {

using testing::Jet;
using testing::Keys;
using testing::read_line;
using testing::read_plane;

/// value, slope and given of the wall x_low, at y = 0.5 and a = 3, f = 5.
std::vector<double> wall_of(const std::string& condition) {
  const auto pde = read_plane({{"boundary", "{ x_low = '" + condition + "', x_high = 'u = 0', y = 'u = 0' }"}});
  for (const auto& wall : pde.walls) {
    if (wall.axis != Coordinate::x || wall.high) continue;
    EXPECT_EQ(wall.text, condition);
    const testing::JetFields fields = {{"a", [](auto&&...) { return Jet(3); }}};
    std::vector<double> numbers;
    for (const auto& e : {wall.value, wall.slope, wall.given})
      numbers.push_back(evaluate(*e, {0, 0.5, 0}, fields, {{"f", 5}}).value());
    return numbers;
  }
  return {};
}

TEST(Walls, AreReadAsValueSlopeAndWhatIsGiven) {
  using V = std::vector<double>;
  EXPECT_EQ(wall_of("u = 0"), V({1, 0, 0}));
  EXPECT_EQ(wall_of("u = 2 + y"), V({1, 0, 2.5}));
  EXPECT_EQ(wall_of("1 = u"), V({1, 0, 1}));
  EXPECT_EQ(wall_of("dn(u) = 4*y"), V({0, 1, 2}));
  EXPECT_EQ(wall_of("dn(u) + 2*u = 1"), V({2, 1, 1}));
  EXPECT_EQ(wall_of("a*dn(u) = f*(7 - u)"), V({5, 3, 35}));
  EXPECT_EQ(wall_of("a*dn(u) + 20*u = 0"), V({20, 3, 0}));
  EXPECT_EQ(wall_of("2*u = 6"), V({2, 0, 6}));
}

TEST(Walls, AKeyStandsForBothWallsOrOne) {
  const auto pde = read_plane({{"boundary", "{ x = 'u = 0', y_low = 'u = 1', y_high = 'dn(u) = 2' }"}});
  ASSERT_EQ(pde.walls.size(), 4u);
  int high = 0;
  for (const auto& wall : pde.walls) {
    high += wall.high;
    if (wall.axis == Coordinate::y) {
      EXPECT_EQ(wall.given->value, wall.high ? 2 : 1);
    }
  }
  EXPECT_EQ(high, 2);
}

TEST(Walls, AnUnstatedWallIsAnError) {
  const auto boundary = [](const std::string& table) { read_plane({{"boundary", table}}); };
  EXPECT_REFUSED(boundary(""), ": boundary: u has no condition on the wall x_low; write x_low = \"u = 0\" (its value)");
  EXPECT_REFUSED(boundary("{}"), ": boundary: u has no condition on the wall x_low");
  EXPECT_REFUSED(boundary("{ x = 'u = 0' }"), ": boundary: u has no condition on the wall y_low");
  EXPECT_REFUSED(boundary("{ x = 'u = 0', y_low = 'u = 0' }"), ": boundary: u has no condition on the wall y_high");
  EXPECT_REFUSED(read_line({{"equation", ""},
                            {"equations", "{ u = 'dt(u) = D*lap(u) + r*v', v = 'dt(v) = u' }"},
                            {"initial", "['u = u0', 'v = u0']"}}),
                 ": boundary: v has no condition on the wall x_low");
}

TEST(Walls, PeriodicAxesHaveNone) {
  const std::string grid = "{ x = [0, 1, 16, 'periodic'], y = [0, 1, 16, 'nodes'] }";
  EXPECT_EQ(read_plane({{"grid", grid}, {"boundary", "{ y = 'u = 0' }"}}).walls.size(), 2u);
  EXPECT_REFUSED(read_plane({{"grid", grid}}), ": boundary: the axis x is periodic and has no walls; leave out 'x'");
}

TEST(Walls, WrongConditionsAreRefused) {
  const auto wall = [](const std::string& condition) {
    read_plane({{"boundary", "{ x = \"" + condition + "\", y = 'u = 0' }"}});
  };
  EXPECT_REFUSED(wall("a = 0"),
                 ": boundary.x, line 1, column 1: a wall condition holds a field or its dn(..); this has none of u");
  EXPECT_REFUSED(wall("u^2 = 1"), ": boundary.x, line 1, column 2: a wall condition is linear in u and dn(u)");
  EXPECT_REFUSED(
      wall("u*dn(u) = 1"),
      ": boundary.x, line 1, column 2: a wall condition is linear in u and dn(u): value*u + slope*dn(u) = given");
  EXPECT_REFUSED(wall("dx(u) = 0"),
                 ": boundary.x, line 1, column 1: a wall condition holds a field and its dn(..), no other");
  EXPECT_REFUSED(wall("dn(a) = 0"), ": boundary.x, line 1, column 4: dn takes a field that the PDE is solved for: u");
  EXPECT_REFUSED(wall("dn(2*u) = 0"), ": boundary.x, line 1, column 5: dn takes a field");
  EXPECT_REFUSED(wall("dn(u, u) = 0"), ": boundary.x, line 1, column 1: dn takes 1 argument, got 2");
  EXPECT_REFUSED(wall("dn(u)"), ": boundary.x, line 1, column 6: expected '='");
  EXPECT_REFUSED(wall("w = 0"), ": boundary.x, line 1, column 1: unknown name 'w'");
  EXPECT_REFUSED(wall("u = t"), ": boundary.x, line 1, column 5: this PDE has no axis t");
  EXPECT_REFUSED(wall("u - u = 1"), ": boundary.x, line 1, column 3: u cancels");
  EXPECT_REFUSED(wall("normal(u) = 0"),
                 ": boundary.x, line 1, column 1: unknown function 'normal'; did you mean 'dn'?");
  const auto boundary = [](const std::string& table) { read_plane({{"boundary", table}}); };
  EXPECT_REFUSED(boundary("{ x = 3, y = 'u = 0' }"), ": boundary.x: expected a text in quotes, got 3");
  EXPECT_REFUSED(boundary("'u = 0'"), ": boundary: expected a table");
  EXPECT_REFUSED(boundary("{ x_lo = 'u = 0', y = 'u = 0' }"), ": boundary: unknown wall 'x_lo'; did you mean 'x_low'?");
  EXPECT_REFUSED(boundary("{ x = 'u = 0', x_low = 'dn(u) = 0', y = 'u = 0' }"),
                 ": boundary: u has two conditions on the wall x_low: \"u = 0\" and \"dn(u) = 0\"");
  EXPECT_REFUSED(read_line({{"boundary", "{ x = 'dn(u) = 0', y = 'u = 0' }"}}), ": boundary: unknown wall 'y'");
  EXPECT_REFUSED(read_line({{"equation", ""},
                            {"equations", "{ u = 'dt(u) = D*lap(u) + r*v', v = 'dt(v) = u' }"},
                            {"boundary", "{ x = ['u = v', 'v = 0'] }"},
                            {"initial", "['u = u0', 'v = u0']"}}),
                 ": boundary.x[0], line 1, column 1: a wall condition holds one field; this has u and v");
}

TEST(Initial, StatesAndRatesAreRead) {
  const auto line = read_line({{"initial", "'u = u0*(1 + x) + r'"}});
  ASSERT_EQ(line.initial.size(), 1u);
  EXPECT_EQ(line.initial[0].field, "u");
  EXPECT_FALSE(line.initial[0].rate);
  const auto wave = read_line({{"equation", "'dtt(u) = D*lap(u) + r'"}, {"initial", "['u = u0', 'dt(u) = 0']"}});
  ASSERT_EQ(wave.initial.size(), 2u);
  EXPECT_TRUE(wave.initial[1].rate);
}

TEST(Initial, WrongStatesAreRefused) {
  const auto initial = [](const std::string& value) { read_line({{"initial", value}}); };
  EXPECT_REFUSED(initial(""), ": initial: u has no initial state; write \"u = ..\", such as \"u = u0\"");
  EXPECT_REFUSED(initial("'u = t'"), ": initial, line 1, column 5: the initial state is at t = 0: no t here");
  EXPECT_REFUSED(initial("'u = dx(u0)'"), ": initial, line 1, column 5: an initial state takes no derivatives");
  EXPECT_REFUSED(initial("'u = u'"),
                 ": initial, line 1, column 5: an initial state holds coefficients, parameters and");
  EXPECT_REFUSED(initial("'2*u = u0'"),
                 ": initial, line 1, column 2: an initial state is written u = .. or dt(u) = ..");
  EXPECT_REFUSED(initial("'u0 = 1'"), ": initial, line 1, column 1: an initial state is written u = ..");
  EXPECT_REFUSED(initial("'u = w0'"), ": initial, line 1, column 5: unknown name 'w0'; did you mean 'u0'?");
  EXPECT_REFUSED(initial("['u = u0', 'u = 1']"), ": initial: the state of u is given twice");
  EXPECT_REFUSED(initial("['u = u0', 'dt(u) = 1']"), ": initial: dt(u) at t = 0 belongs to equations with dtt(u)");
  EXPECT_REFUSED(initial("3"), ": initial: expected a text in quotes, got 3");
  EXPECT_REFUSED(initial("['u = u0', 3]"), ": initial[1]: expected a text in quotes, got 3");
  EXPECT_REFUSED(read_line({{"equation", "'dtt(u) = D*lap(u) + r'"}}),
                 ": initial: dtt(u) needs the rate at t = 0 too; write initial = [\"u = ..\", \"dt(u) = 0\"]");
  EXPECT_REFUSED(read_plane({{"initial", "'u = 0'"}}), ": initial: a problem without an axis t has no initial state");
}

}  // namespace
}  // namespace piddm
