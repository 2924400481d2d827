// A text in words, and texts to begin with.

#include "piddm/pde/text/text_summary.h"

#include "piddm/pde/text/template.h"
#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<const TextPde> pde_of(const std::string& toml) {
  const auto options = options_of_text(parse_toml(toml, "test.toml"), "test.toml");
  return std::dynamic_pointer_cast<const TextPde>(make_pde(options));
}

TEST(TextSummary, SaysWhatBecomesOfASteadyProblem) {
  const auto pde = pde_of(R"toml(
name = "darcy-robin"
equation = "-div(harmonic(a)*grad(u)) = 1"
grid = { x = [0, 1, 16, "cells"], y = [0, 2, 16, "nodes"] }
boundary = { x = "a*dn(u) + 20*u = 0", y_low = "u = 1", y_high = "dn(u) = k" }
coefficients = { a = "field: gauss(alpha=2, tau=3) -> where(g >= 0, 12, 3)", k = "loguniform(0.5, 1)" }
)toml");
  const auto summary = summary_of(*pde);
  EXPECT_THAT(summary.equations, ElementsAre("−∇·(harmonic(a) ∇u) = 1"));
  EXPECT_THAT(summary.latex, ElementsAre(HasSubstr("\\nabla")));
  EXPECT_EQ(summary.kind, "linear, steady, one field (u), in x, y");
  EXPECT_THAT(summary.stencil, HasSubstr("along x and y"));
  EXPECT_THAT(summary.stencil, HasSubstr("harmonic mean"));
  EXPECT_THAT(summary.stencil, Not(HasSubstr("time")));
  EXPECT_THAT(summary.walls,
              ElementsAre("x = 0, x = 1: a ∂ₙu + 20 u = 0: the wall is half a cell from the first point, "
                          "u = u₀ + h/2 ∂ₙu there",
                          "y = 0: u = 1: the points on the wall hold this value, and no equation",
                          "y = 2: ∂ₙu = k: the points on the wall hold the equation on half a cell, with "
                          "this slope"));
  EXPECT_TRUE(summary.initial.empty());
  EXPECT_THAT(summary.solver, HasSubstr("one linear system"));
  EXPECT_THAT(summary.residual, HasSubstr("reference"));
  const auto& text = pde->system().text();
  EXPECT_EQ(law_in_words(*text.coefficient("a")), "{12 if g ≥ 0, else 3}, g Gaussian of cosines, alpha 2, tau 3");
  EXPECT_EQ(law_in_words(*text.coefficient("k")), "log-uniform between 0.5 and 1");
}

TEST(TextSummary, SaysWhatBecomesOfProblemsInTime) {
  const auto burgers = summary_of(*pde_of(R"toml(
name = "ring"
equation = "dt(u) + u*dx(u) = nu*lap(u)"
grid = { x = [0, 1, 16, "periodic"], t = [0, 1, 17] }
initial = "u = u0"
derivatives = "spectral"
parameters = { nu = 0.1 }
coefficients = { u0 = "field: periodic(alpha=2, tau=3)" }
)toml"));
  EXPECT_EQ(burgers.kind, "nonlinear, first order in time, one field (u), in x, t");
  EXPECT_THAT(burgers.stencil, HasSubstr("spectral derivatives along x"));
  EXPECT_THAT(burgers.stencil, HasSubstr("BDF2 in time, steps of 0.0625"));
  EXPECT_THAT(burgers.walls, ElementsAre(HasSubstr("x: periodic")));
  EXPECT_THAT(burgers.initial, ElementsAre("u = u₀: the first time that is stored"));
  EXPECT_THAT(burgers.solver, HasSubstr("16 implicit steps of the same equations, each Newton's method"));

  const auto wave = summary_of(*pde_of(R"toml(
name = "wave"
equation = "dtt(u) = lap(u)"
grid = { x = [0, 1, 16, "nodes"], t = [0, 1, 17] }
boundary = { x_high = "dn(u) = 0", x_low = "u = 0" }
initial = ["u = u0", "dt(u) = 0"]
coefficients = { u0 = "field: sine(alpha=2, tau=3)" }
)toml"));
  EXPECT_EQ(wave.kind, "linear, second order in time, one field (u), in x, t");
  EXPECT_THAT(wave.stencil, HasSubstr("Newmark"));
  EXPECT_THAT(wave.walls, ElementsAre(HasSubstr("x = 0: u = 0"), HasSubstr("x = 1: ∂ₙu = 0")));
  EXPECT_EQ(wave.initial.size(), 2);
}

TEST(Template, IsACompletePdeOfItsName) {
  const auto pde = pde_of(new_pde_text("my-rod"));
  EXPECT_EQ(pde->name(), "my-rod");
  EXPECT_TRUE(pde->has_law());
  EXPECT_TRUE(all_finite(pde->sample(0, 0, 2)));
}

TEST(Template, EveryExampleCanBeBegunWith) {
  EXPECT_GE(example_pdes().size(), 7);
  for (const auto& [name, text] : example_pdes()) {
    const auto own = new_pde_text("my_own", name);
    EXPECT_EQ(options_of_text(parse_toml(own, name), name).name, "my_own");
    EXPECT_EQ(options_of_text(parse_toml(text, name), name).name, name);
  }
}

TEST(Template, RefusesWhatIsNoNameAndNoExample) {
  EXPECT_THROW(new_pde_text("my rod"), UsageError);
  EXPECT_THROW(new_pde_text(""), UsageError);
  EXPECT_THAT([] { new_pde_text("rod", "fischer"); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("did you mean 'fisher'")));
}

}  // namespace
}  // namespace piddm
