// A PDE of one's own at the command line: new, show, test.

#include <fstream>

#include "tests/cli/workshop.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::expect_failure;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::only_json;
using testing::succeed;

class CliPde : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name)) << text;
    return at(name);
  }

  /// A small problem in x and t with this right-hand side.
  std::string with_right_side(const std::string& right, const std::string& law = "uniform(0.1, 0.2)") const {
    return write("own.toml", "name = \"own\"\nequation = \"dt(u) = " + right +
                                 "\"\ngrid = { x = [0, 1, 16, \"periodic\"], t = [0, 1, 16] }\ninitial = \"u = "
                                 "sin(2*pi*x)\"\ncoefficients = { D = \"" +
                                 law + "\" }\n");
  }

  testing::TempDir folder_;
};

TEST_F(CliPde, WhatIsBegunNewPassesItsTest) {
  const auto made = only_json(succeed({"pde", "new", at("rod"), "--json"}));
  EXPECT_EQ(made.at("out"), at("rod.toml"));
  const auto tested =
      only_json(succeed({"pde", "test", at("rod.toml"), "--grid", "24", "--plot", at("rod.png"), "--json"}));
  EXPECT_TRUE(tested.at("pass"));
  EXPECT_GT(tested.at("checks").size(), 7u);
  EXPECT_TRUE(fs::exists(at("rod.png")) || fs::exists(at("rod.png.figure")));
  expect_failure({"pde", "new", at("rod")}, ExitCode::usage, "is there already");
}

TEST_F(CliPde, AnExampleCanBeBegunWith) {
  succeed({"pde", "new", at("string.toml"), "--like", "wave"});
  const auto shown = only_json(succeed({"pde", "show", at("string.toml"), "--json"}));
  EXPECT_EQ(shown.at("name"), "string");
  EXPECT_THAT(shown.at("kind"), HasSubstr("second order in time"));
  expect_failure({"pde", "new", at("other"), "--like", "waves"}, ExitCode::usage, "did you mean 'wave'");
  EXPECT_FALSE(fs::exists(at("other.toml")));
}

TEST_F(CliPde, ShowSaysEverythingOfAFile) {
  const auto file = with_right_side("D*lap(u)");
  const auto text = succeed({"pde", "show", file, "--param", "length_x=2"}).out;
  for (const char* const part :
       {"∂ₜu = D ∇²u", "linear, first order in time", "0 to 2", "uniform between 0.1 and 0.2", "periodic", "sin(2 π x)",
        "BDF2", "sparse LU", "R = c (left − right)", "reference ∂ₜu", "s for one solve", "pde_error"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(succeed({"pde", "show", file, "--latex"}).out, HasSubstr("\\partial_t u = D \\nabla^2 u"));
  const auto object = only_json(succeed({"pde", "show", file, "--json"}));
  for (const char* const key : {"equations", "latex", "kind", "axes", "channels", "parameters", "walls", "initial",
                                "stencil", "solver", "residual", "scales", "seconds_per_solve", "floor"})
    EXPECT_TRUE(object.contains(key)) << key;
}

TEST_F(CliPde, ShowKnowsBuiltInOnesToo) {
  const auto shown = only_json(succeed({"pde", "show", "helmholtz", "--grid", "16", "--param", "k=2", "--json"}));
  EXPECT_EQ(shown.at("parameters").at("k"), 2);
  EXPECT_EQ(shown.at("grid"), "16x16");
  EXPECT_LT(shown.at("floor").at("pde_error"), 1e-6);
  expect_failure({"pde", "show", "helmholz"}, ExitCode::usage, "did you mean 'helmholtz'");
  expect_failure({"pde", "test", "helmholtz"}, ExitCode::usage, "built in");
}

TEST_F(CliPde, AMistakeIsAnsweredWithItsPlace) {
  expect_failure({"pde", "show", with_right_side("D*lapl(u)")}, ExitCode::usage,
                 "own.toml: equation, line 1, column 11: unknown function 'lapl'; did you mean 'lap'?");
  expect_failure({"pde", "test", with_right_side("D*lap(u)) ")}, ExitCode::usage, "column 17");
  expect_failure({"pde", "show", at("none.toml")}, ExitCode::data, "none.toml");
}

TEST_F(CliPde, WhatDoesNotHoldFailsItsTest) {
  const auto file = with_right_side("D*dx(x*u)");  // jumps where the ring closes
  const auto outcome = testing::piddm({"pde", "test", file, "--plot", at("own.png"), "--quiet"});
  EXPECT_EQ(outcome.code, static_cast<int>(ExitCode::numerics));
  EXPECT_THAT(outcome.out, HasSubstr("FAILED"));
  EXPECT_THAT(outcome.err, HasSubstr("failed: order of u"));
}

TEST_F(CliPde, CoefficientsMayComeFromData) {
  const auto lawful = with_right_side("D*lap(u)");
  succeed({"data", "make", lawful, "--n", "4", "--out", at("own.npz")});
  const auto file = with_right_side("D*lap(u)", "data: scalar");
  EXPECT_THAT(succeed({"pde", "show", file}).out, HasSubstr("coefficients come from data"));
  const auto skipped = only_json(succeed({"pde", "test", file, "--plot", at("p.png"), "--json"}));
  EXPECT_TRUE(skipped.at("skipped"));
  const auto tested =
      only_json(succeed({"pde", "test", file, "--data", at("own.npz"), "--plot", at("p.png"), "--json"}));
  EXPECT_TRUE(tested.at("pass"));
  EXPECT_FALSE(tested.at("checks").empty());
}

}  // namespace
}  // namespace piddm
