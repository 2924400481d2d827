// Whole PDE files: what is read, and what each mistake is answered.

#include "piddm/language/pde_text.h"

#include "tests/language/files.h"
#include "tests/language/trees.h"

namespace piddm {
namespace {

using ::testing::ElementsAre;
using testing::Keys;
using testing::read_line;
using testing::read_plane;

std::vector<std::string> names_of(const std::vector<FieldText>& fields) {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  return names;
}

/// An expression of the line's names.
ExpressionPtr on_line(const std::string& text) {
  Scope scope;
  for (const char* const name : {"u", "u0", "D", "dn(u)"}) scope.names[name] = ExpressionKind::field;
  scope.names["r"] = ExpressionKind::parameter;
  scope.space = {Coordinate::x};
  scope.time = true;
  return testing::read(text, scope);
}

TEST(PdeText, AFileIsReadIntoTypedTrees) {
  const auto pde = read_line();
  EXPECT_EQ(pde.name, "fisher");
  EXPECT_THAT(names_of(pde.solutions), ElementsAre("u"));
  ASSERT_EQ(pde.equations.size(), 1u);
  EXPECT_TRUE(equal(*pde.equations[0].left, *on_line("dt(u)")));
  EXPECT_TRUE(equal(*pde.equations[0].right, *on_line("D*dx(dx(u)) + r*u*(1 - u)")));
  EXPECT_EQ(pde.equations[0].text, "dt(u) = D*lap(u) + r*u*(1 - u)");
  EXPECT_EQ(pde.equations[0].unicode, "∂ₜu = D ∇²u + r u (1 − u)");
  EXPECT_EQ(pde.equations[0].latex, "\\partial_t u = D \\nabla^2 u + r u (1 - u)");
  ASSERT_EQ(pde.coefficients.size(), 2u);
  EXPECT_EQ(pde.coefficients[0].field.name, "D");
  EXPECT_TRUE(pde.coefficients[0].scalar);
  EXPECT_FALSE(pde.coefficients[1].scalar);
  ASSERT_EQ(pde.parameters.size(), 1u);
  EXPECT_EQ(pde.parameters[0], std::make_pair(std::string("r"), 2.0));
  EXPECT_EQ(pde.coefficient("u"), nullptr);
  EXPECT_FALSE(pde.spectral);
}

TEST(PdeText, AxesHaveKindLengthAndPoints) {
  const auto line = read_line();
  ASSERT_EQ(line.axes.size(), 2u);
  EXPECT_EQ(line.axes[0].kind, AxisText::Kind::cells);
  EXPECT_EQ(line.axes[0].length, 2);
  EXPECT_EQ(line.axes[0].points, 64);
  EXPECT_EQ(line.axes[1].kind, AxisText::Kind::time);
  EXPECT_EQ(line.axes[1].points, 33);
  EXPECT_EQ(line.axis(Coordinate::y), nullptr);
  EXPECT_EQ(read_plane().axis(Coordinate::y)->kind, AxisText::Kind::nodes);
  const auto all = read_plane({{"equation", "'dt(u) = div(a*grad(u)) + f'"},
                               {"initial", "'u = 0'"},
                               {"grid", "{ t = [0, 2, 3], y = [0, 1, 16, 'nodes'], x = [0, 1, 16, 'cells'] }"}});
  ASSERT_EQ(all.axes.size(), 3u);
  EXPECT_EQ(all.axes[2].axis, Coordinate::t);
  EXPECT_EQ(all.axes[2].points, 3);
}

TEST(PdeText, WrongAxesAreRefused) {
  const auto grid = [](const std::string& axes) { read_line({{"grid", axes}}); };
  EXPECT_REFUSED(grid(""), ": the grid is missing; write grid = {");
  EXPECT_REFUSED(grid("3"), ": grid: expected a table, got 3");
  EXPECT_REFUSED(grid("{ x = [0, 1, 64, 'cells'], z = [0, 1, 33] }"), ": grid: unknown axis 'z'");
  EXPECT_REFUSED(grid("{ t = [0, 1, 33] }"), ": grid: the axis x is missing");
  EXPECT_REFUSED(grid("{ x = [0, 1, 64, 'cells'] }"), ": grid: x alone is too little; add t = [0, 1, 33]");
  EXPECT_REFUSED(grid("{ x = [0, 1, 64], t = [0, 1, 33] }"),
                 ": grid.x: expected [start, end, points, kind], such as [0, 1, 64, \"cells\"]");
  EXPECT_REFUSED(grid("{ x = [0, 1, 64, 'cells'], t = [0, 1, 33, 'nodes'] }"),
                 ": grid.t: expected [start, end, points]");
  EXPECT_REFUSED(grid("{ x = [0, 1, 64, 'cell'], t = [0, 1, 33] }"),
                 ": grid.x: unknown kind of points 'cell'; did you mean 'cells'?");
  EXPECT_REFUSED(grid("{ x = [1, 2, 64, 'cells'], t = [0, 1, 33] }"), ": grid.x: an axis starts at 0, got 1");
  EXPECT_REFUSED(grid("{ x = [0, -1, 64, 'cells'], t = [0, 1, 33] }"), ": grid.x: must end above 0, got -1");
  EXPECT_REFUSED(grid("{ x = [0, inf, 64, 'cells'], t = [0, 1, 33] }"), ": grid.x, end: expected a number");
  EXPECT_REFUSED(grid("{ x = [0, 1, 8, 'cells'], t = [0, 1, 33] }"), ": grid.x: between 16 and 1024 points, got 8");
  EXPECT_REFUSED(grid("{ x = [0, 1, 64, 'cells'], t = [0, 1, 15] }"), ": grid.t: between 16 and 1024 points, got 15");
  EXPECT_REFUSED(grid("{ x = [0, 1, 1025, 'cells'], t = [0, 1, 33] }"),
                 ": grid.x: between 16 and 1024 points, got 1025");
  EXPECT_REFUSED(grid("{ x = [0, 1, 6.5, 'cells'], t = [0, 1, 33] }"), ": grid.x: expected a whole number of points");
  EXPECT_REFUSED(grid("{ x = ['a', 1, 64, 'cells'], t = [0, 1, 33] }"),
                 ": grid.x, start: expected a number, got \"a\"");
  EXPECT_REFUSED(read_plane({{"grid", "{ x = [0, 1, 16, 'cells'], y = [0, 1, 16, 'cells'], t = [0, 1, 1] }"}}),
                 ": grid.t: between 2 and 1024 points, got 1");
}

TEST(PdeText, KeysAndNamesAreChecked) {
  EXPECT_REFUSED(read_line({{"boundaries", "{}"}}), ": unknown key 'boundaries'; did you mean 'boundary'?");
  EXPECT_REFUSED(read_line({{"name", ""}}), ": the name is missing; write name = \"fisher\"");
  EXPECT_REFUSED(read_line({{"name", "'a b'"}}), ": name: 'a b' is no name");
  EXPECT_REFUSED(read_line({{"name", "'../x'"}}), ": name: '../x' is no name");
  EXPECT_REFUSED(read_line({{"name", "3"}}), ": name: expected a text in quotes, got 3");
  EXPECT_REFUSED(read_line({{"parameters", "{ r = 'two' }"}}), ": parameters.r: expected a number, got \"two\"");
  EXPECT_REFUSED(read_line({{"parameters", "{ r = 2, '1a' = 3 }"}}), ": parameters: '1a' is no name");
  EXPECT_REFUSED(read_line({{"parameters", "{ r = 2, sin = 3 }"}}), ": parameters: 'sin' has a meaning of its own");
  EXPECT_REFUSED(read_line({{"parameters", "{ r = 2, x = 3 }"}}), ": parameters: 'x' has a meaning of its own");
  EXPECT_REFUSED(read_line({{"parameters", "{ r = 2, D = 3 }"}}), ": coefficients: the name 'D' is given twice");
  EXPECT_REFUSED(read_line({{"parameters", "{ r = 2, g = 3 }"}}), ": parameters: 'g' is the Gaussian field");
  EXPECT_REFUSED(read_line({{"parameters", "{ r = 2, duration = 3 }"}}),
                 ": parameters: 'duration' is given by the grid");
  EXPECT_REFUSED(read_line({{"parameters", "{ r = 2, s = 3 }"}}), ": parameters: the parameter s is not used");
  EXPECT_REFUSED(read_line({{"coefficients", "{ u0 = 'uniform(0, 1)', D = 'uniform(0, 1)', c = 'uniform(0, 1)' }"}}),
                 ": coefficients: the coefficient c is not used in the equation, walls or initial state");
}

TEST(PdeText, WrongEquationsAreRefusedWithTheirPlace) {
  const auto equation = [](const std::string& text) { read_line({{"equation", "'" + text + "'"}}); };
  EXPECT_REFUSED(equation("dt(u) = D*lap(u) + r*u*(1 - v)"), ": equation: one equation for the names u, v; write");
  EXPECT_REFUSED(equation("dt(u) = DD*lap(u) + r*u"),
                 ": equation, line 1, column 9: unknown name 'DD'; did you mean 'D'?");
  EXPECT_REFUSED(equation("dt(u) = D*lap(u"), ": equation, line 1, column 16: expected ',', ')' or an operator");
  EXPECT_REFUSED(equation("dt(u) = D*dyy(u)"), ": equation, line 1, column 11: this PDE has no axis y");
  EXPECT_REFUSED(equation("dt(D) = r"), ": equation: no field to solve for");
  EXPECT_REFUSED(equation("dt(u) - D*lap(u)"), ": equation, line 1, column 17: expected '='");
  EXPECT_REFUSED(equation("D*lap(u) = r*u"), ": equation: no dt(u) or dtt(u)");
  EXPECT_REFUSED(equation("dt(dtt(u)) = D*lap(u)"), ": equation: more than two derivatives of u by t");
  EXPECT_REFUSED(equation("dt(u) = D*dn(u)"), ": equation, line 1, column 11: dn stands in wall conditions only");
  EXPECT_REFUSED(read_line({{"equation", "''"}}), ": equation, line 1, column 1: expected a number, a name");
  EXPECT_REFUSED(read_line({{"equation", "3"}}), ": equation: expected a text in quotes, got 3");
  EXPECT_REFUSED(read_line({{"equation", ""}}), ": no equation; write equation = \"dt(u) = lap(u)\"");
  EXPECT_REFUSED(read_line({{"equations", "{ u = 'dt(u) = 0' }"}}), ": equation and equations; write");
  EXPECT_REFUSED(read_line({{"equation", "\"\"\"\ndt(u) = D*lap(u)\n  + r*lapp(u)\"\"\""}}),
                 ": equation, line 2, column 7: unknown function 'lapp'; did you mean 'lap'?");
}

const Keys kTwo = {{"equation", ""},
                   {"equations", "{ v = 'dt(v) = D*lap(v) + r*u', u = 'dt(u) = D*lap(u) - u*v' }"},
                   {"boundary", "{ x = ['dn(u) = 0', 'v = 1'] }"},
                   {"initial", "['u = u0', 'v = 0']"}};

PdeText read_two(const Keys& changes = {}) {
  auto keys = kTwo;
  for (const auto& [key, value] : changes) keys[key] = value;
  return read_line(keys);
}

TEST(PdeText, SeveralEquationsStandInAlphabeticalOrder) {
  const auto pde = read_two();
  EXPECT_THAT(names_of(pde.solutions), ElementsAre("u", "v"));
  EXPECT_EQ(pde.equations[0].name, "u");
  EXPECT_EQ(pde.equations[1].text, "dt(v) = D*lap(v) + r*u");
  EXPECT_EQ(pde.walls.size(), 4u);
}

TEST(PdeText, WrongSystemsAreRefused) {
  const auto equations = [](const std::string& table) { read_two({{"equations", table}}); };
  EXPECT_REFUSED(equations("{}"), ": equations: expected a table of equations by the field");
  EXPECT_REFUSED(equations("'dt(u) = 0'"), ": equations: expected a table of equations by the field");
  EXPECT_REFUSED(equations("{ u = 'dt(u) = r*D', v = 'dt(u) = u' }"), ": equations: no equation holds the field v");
  EXPECT_REFUSED(equations("{ u = 'dt(u) = r*D', D = 'dt(D) = u' }"), ": equations: the name 'D' is given twice");
  EXPECT_REFUSED(equations("{ u = 'dt(u) = r*D', v = 'dt(v) = w' }"),
                 ": equations.v, line 1, column 9: unknown name 'w'");
  EXPECT_REFUSED(equations("{ u = 'dt(u) = r*D*v', v = 'lap(v) = u' }"), ": equations.v: no dt(v) or dtt(v)");
  std::string many = "{ ";
  for (int i = 0; i < 9; ++i) {
    const auto name = "w" + std::to_string(i);
    many += (i ? ", " : "") + name + " = 'dt(" + name + ") = 0'";
  }
  EXPECT_REFUSED(equations(many + " }"), ": equations: at most 8 of them");
}

TEST(PdeText, CountsAreLimited) {
  std::string laws = "{ u0 = 'uniform(0, 1)', D = 'uniform(0, 1)'", numbers = "{ r = 2";
  for (int i = 0; i < 31; ++i) laws += ", c" + std::to_string(i) + " = 'uniform(0, 1)'";
  for (int i = 0; i < 64; ++i) numbers += ", k" + std::to_string(i) + " = 1";
  EXPECT_REFUSED(read_line({{"coefficients", laws + " }"}}), ": coefficients: at most 32 of them");
  EXPECT_REFUSED(read_line({{"parameters", numbers + " }"}}), ": parameters: at most 64 of them");
  std::string states = "['u = u0'";
  for (int i = 0; i < 16; ++i) states += ", 'u = u0'";
  EXPECT_REFUSED(read_line({{"initial", states + "]"}}), ": initial: more than 16 texts");
}

TEST(PdeText, UnitsTitlesAndScalesGoToTheirOwners) {
  const auto pde = read_line({{"title", "'Growth'"},
                              {"units", "{ x = 'km', u = '1', D = 'km^2/a' }"},
                              {"titles", "{ t = 'time', u = 'population', u0 = 'start' }"},
                              {"scale", "{ u = 2.5 }"}});
  EXPECT_EQ(pde.title, "Growth");
  EXPECT_EQ(pde.axis(Coordinate::x)->unit, "km");
  EXPECT_EQ(pde.axis(Coordinate::t)->title, "time");
  EXPECT_EQ(pde.solutions[0].title, "population");
  EXPECT_EQ(pde.solutions[0].scale, 2.5);
  EXPECT_EQ(pde.coefficient("D")->field.unit, "km^2/a");
  EXPECT_EQ(pde.coefficient("u0")->field.title, "start");
  EXPECT_REFUSED(read_line({{"units", "{ y = 'm' }"}}), ": units: unknown field or axis 'y'");
  EXPECT_REFUSED(read_line({{"units", "{ x = 3 }"}}), ": units.x: expected a text in quotes, got 3");
  EXPECT_REFUSED(read_line({{"units", "'m'"}}), ": units: expected a table");
  EXPECT_REFUSED(read_line({{"titles", "{ u = \"a\\nb\" }"}}), ": titles.u: expected one line");
  EXPECT_REFUSED(read_line({{"title", "'" + std::string(121, 'a') + "'"}}),
                 ": title: expected one line of at most 120");
  EXPECT_REFUSED(read_line({{"scale", "{ D = 1 }"}}), ": scale: unknown field to solve for 'D'");
  EXPECT_REFUSED(read_line({{"scale", "{ u = 0 }"}}), ": scale.u: must be more than 0, got 0");
}

TEST(PdeText, SpectralDerivativesNeedAPeriodicAxis) {
  const Keys ring = {{"grid", "{ x = [0, 1, 64, 'periodic'], t = [0, 1, 33] }"}, {"boundary", ""}};
  auto keys = ring;
  keys["derivatives"] = "'spectral'";
  EXPECT_TRUE(read_line(keys).spectral);
  keys["derivatives"] = "'compact'";
  EXPECT_FALSE(read_line(keys).spectral);
  keys["derivatives"] = "'spectrum'";
  EXPECT_REFUSED(read_line(keys), ": derivatives: unknown kind of derivatives 'spectrum'; did you mean 'spectral'?");
  EXPECT_REFUSED(read_line({{"derivatives", "'spectral'"}}),
                 ": derivatives: spectral derivatives need a periodic axis");
}

}  // namespace
}  // namespace piddm
