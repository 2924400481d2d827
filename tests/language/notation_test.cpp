#include "piddm/language/notation.h"

#include "tests/language/trees.h"
#include "tests/testing.h"

namespace piddm {
namespace {

std::string unicode(const std::string& text) { return unicode_of(*parse_expression({text, "f"})); }
std::string latex(const std::string& text) { return latex_of(*parse_expression({text, "f"})); }

TEST(Notation, UnicodeReadsAsOnPaper) {
  EXPECT_EQ(unicode("D*lap(u) + r*u*(1 - u)"), "D ∇²u + r u (1 − u)");
  EXPECT_EQ(unicode("-div(a*grad(u))"), "−∇·(a ∇u)");
  EXPECT_EQ(unicode("dtt(u) - c^2*lap(u)"), "∂ₜₜu − c² ∇²u");
  EXPECT_EQ(unicode("dt(u) + u*dx(u) - nu*dxx(u)"), "∂ₜu + u ∂ₓu − ν ∂ₓₓu");
  EXPECT_EQ(unicode("dot([a, b], grad(u)) + dy(u)"), "(a, b) · ∇u + ∂ᵧu");
  EXPECT_EQ(unicode("dx(k*dx(u^3))"), "∂ₓ(k ∂ₓ(u³))");
  EXPECT_EQ(unicode("dxy(dt(u))"), "∂ₓᵧ∂ₜu");
  EXPECT_EQ(unicode("div(grad(lap(u)))"), "∇·(∇∇²u)");
  EXPECT_EQ(unicode("where(g >= 0, 12, 3)"), "{12 if g ≥ 0, else 3}");
  EXPECT_EQ(unicode("sin(2*pi*x)^2 + sqrt(u) + abs(u)"), "sin²(2 π x) + √u + |u|");
  EXPECT_EQ(unicode("a*dn(u) + u"), "a ∂ₙu + u");
}

TEST(Notation, LatexReadsAsOnPaper) {
  EXPECT_EQ(latex("D*lap(u) + r*u*(1 - u)"), "D \\nabla^2 u + r u (1 - u)");
  EXPECT_EQ(latex("-div(a*grad(u))"), "-\\nabla \\cdot (a \\nabla u)");
  EXPECT_EQ(latex("dtt(u) - c^2*lap(u)"), "\\partial_{tt} u - c^2 \\nabla^2 u");
  EXPECT_EQ(latex("u^10 + u^-1 + u^(k + 1)"), "u^{10} + u^{-1} + u^{k + 1}");
  EXPECT_EQ(latex("u/(1 + u)*(a/b)"), "\\frac{u}{1 + u} \\frac{a}{b}");
  EXPECT_EQ(latex("u*(1 - u/k)"), "u \\left(1 - \\frac{u}{k}\\right)");
  EXPECT_EQ(latex("(a/b)^2"), "\\left(\\frac{a}{b}\\right)^2");
  EXPECT_EQ(latex("where(g >= 0, 12, 3)"), "\\begin{cases} 12 & g \\ge 0 \\\\ 3 & \\text{otherwise} \\end{cases}");
  EXPECT_EQ(latex("sin(2*pi*x)^2 + sqrt(1 + u)"), "\\sin^2(2 \\pi x) + \\sqrt{1 + u}");
  EXPECT_EQ(latex("step(u) + sign(u)"), "\\operatorname{step}(u) + \\operatorname{sgn}(u)");
}

TEST(Notation, BracketsStandWhereTheyAreNeeded) {
  EXPECT_EQ(unicode("((a*(b)))"), "a b");
  EXPECT_EQ(unicode("a - (b - c) + (d + e)"), "a − (b − c) + (d + e)");
  EXPECT_EQ(unicode("(a + b)*c"), "(a + b) c");
  EXPECT_EQ(unicode("a/b*c"), "(a/b) c");
  EXPECT_EQ(unicode("a/(b*c)"), "a/(b c)");
  EXPECT_EQ(unicode("a*b/c"), "a b/c");
  EXPECT_EQ(unicode("a*(b*c)"), "a (b c)");
  EXPECT_EQ(unicode("dx(u)*v"), "(∂ₓu) v");
  EXPECT_EQ(unicode("u*dx(u)*v"), "(u ∂ₓu) v");
  EXPECT_EQ(unicode("dx(u)^2"), "(∂ₓu)²");
  EXPECT_EQ(unicode("a*-b + -c"), "a (−b) + (−c)");
  EXPECT_EQ(unicode("-a*b"), "−a b");
  EXPECT_EQ(unicode("(-a)^2"), "(−a)²");
  EXPECT_EQ(unicode("2*3*u*4"), "2 · 3 u · 4");
  EXPECT_EQ(unicode("-(a/b)*c"), "(−a/b) c");
  EXPECT_EQ(unicode("u^k + u^(k + 1) + u^1.5"), "u^k + u^(k + 1) + u^1.5");
}

TEST(Notation, NumbersKeepTheirDigits) {
  EXPECT_EQ(unicode("1e-3*u"), "10⁻³ u");
  EXPECT_EQ(unicode("2.5e-05*u"), "2.5·10⁻⁵ u");
  EXPECT_EQ(unicode("1e+0 + 3. + .5"), "10⁰ + 3 + 0.5");
  EXPECT_EQ(latex("2.5e7*u"), "2.5 \\cdot 10^{7} u");
}

TEST(Notation, NamesHaveGreekLettersAndIndices) {
  EXPECT_EQ(unicode("nu + omega0 + u0 + k_12 + D_max + c_B + Omega"), "ν + ω₀ + u₀ + k₁₂ + Dₘₐₓ + c_B + Ω");
  EXPECT_EQ(latex_name("nu"), "\\nu");
  EXPECT_EQ(latex_name("u0"), "u_{0}");
  EXPECT_EQ(latex_name("omega12"), "\\omega_{12}");
  EXPECT_EQ(latex_name("D_max"), "D_{\\mathrm{max}}");
  EXPECT_EQ(latex_name("speed"), "\\mathrm{speed}");
  EXPECT_EQ(latex_name("a_b_c"), "a_{\\mathrm{b\\_c}}");
  EXPECT_EQ(unicode_name("a_"), "a_");
}

TEST(Notation, WhatIsPrintedParsesToTheSameTree) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto e = testing::random_syntax(random, i % 5);
    const auto text = text_of(*e);
    ASSERT_TRUE(equal(*e, *parse_expression({text, "f"}))) << text;
    EXPECT_EQ(text_of(*parse_expression({text, "f"})), text);
  }
}

TEST(Notation, ExpressionsArePrintedInTheLanguage) {
  const auto printed = [](const std::string& text) { return text_of(*syntax_of(*testing::read(text))); };
  EXPECT_EQ(printed("-div(a*grad(u))"), "-(dx(a*dx(u)) + dy(a*dy(u)))");
  EXPECT_EQ(printed("dt(u) - k*lap(u)"), "dt(u) - k*(dxx(u) + dyy(u))");
  EXPECT_EQ(printed("dx(dxx(u)) + dy(dx(u)) - 3"), "dxx(dx(u)) + dy(dx(u)) - 3");
  EXPECT_EQ(printed("(-2)^u + where(u <= -1, v, t)"), "(-2)^u + where(u <= -1, v, t)");
}

TEST(Notation, ExpressionsPrintedAndReadAreTheSame) {
  std::mt19937 random(2);
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto e = testing::random_expression(random, i % 5);
    const auto text = text_of(*syntax_of(*e));
    try {
      EXPECT_TRUE(equal(*e, *testing::read(text))) << text;
      ++read;
    } catch (const UsageError& error) {  // numbers folded to what has no value
      EXPECT_THAT(error.what(), ::testing::HasSubstr("no finite number")) << text;
    }
  }
  EXPECT_GT(read, 2900);
}

}  // namespace
}  // namespace piddm
