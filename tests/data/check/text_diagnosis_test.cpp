// The causes of diagnosis_test.cpp in data of PDEs by text.

#include "piddm/core/toml_text.h"
#include "piddm/data/check/diagnosis.h"
#include "piddm/data/resample.h"
#include "piddm/pde/text/text_pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSamples = 4;

constexpr const char* kFisher = R"toml(
name = "fisher"
equation = "dt(u) = D*lap(u) + r*u*(1 - u)"
grid = { x = [0, 2, 32, "cells"], t = [0, 1, 17] }
boundary = { x = "dn(u) = 0" }
initial = "u = u0"
parameters = { D = 0.01 }
coefficients = { u0 = "field: gauss(alpha=2, tau=3) -> 0.5 + 0.5*tanh(g)", r = "uniform(1, 5)" }
)toml";

constexpr const char* kRock = R"toml(
name = "rock"
equation = "-div(a*grad(u)) = 1"
grid = { x = [0, 1, 24, "cells"], y = [0, 1, 24, "cells"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "field: gauss(alpha=2, tau=3) -> where(g >= 0, 12, 3)" }
)toml";

PdeOptions options_of(const std::string& text) { return options_of_text(parse_toml(text, "test"), "test"); }

PdePtr pde_of(const std::string& text, const json& parameters = json::object()) {
  auto options = options_of(text);
  options.parameters = parameters;
  return make_pde(options);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Tensor true_data(const Pde& pde) { return pde.sample(0, 0, kSamples).to(torch::kFloat32); }

/// The first explanation, of one cause.
Cause only_cause(const Pde& pde, const Tensor& x) {
  const auto found = diagnose(pde, x, "d.npz");
  EXPECT_FALSE(found.empty()) << pde.name();
  if (found.empty()) return {};
  EXPECT_EQ(found.front().size(), 1u) << found.front()[0].sentence() << found.front()[1].sentence();
  return found.front().front();
}

TEST(TextDiagnosis, NothingIsWrongWithTrueData) {
  for (const auto* text : {kFisher, kRock}) {
    const auto pde = pde_of(text);
    EXPECT_TRUE(diagnose(*pde, true_data(*pde), "").empty()) << pde->name();
  }
}

TEST(TextDiagnosis, AFactorASignAndADirection) {
  const auto pde = pde_of(kFisher);
  auto x = true_data(*pde);
  pde->solution(x).mul_(-3);
  const auto cause = only_cause(*pde, x);
  EXPECT_NEAR(cause.evidence.value("factor", 0.0), -1.0 / 3, 1e-4);
  EXPECT_THAT(cause.advice, HasSubstr("piddm data import d.npz --scale u=-0.333"));
  EXPECT_THAT(only_cause(*pde, true_data(*pde).flip({3})).what, HasSubstr("run backwards along t"));
  const auto rock = pde_of(kRock);
  auto y = true_data(*rock);
  rock->solution(y).neg_();
  EXPECT_THAT(only_cause(*rock, y).what, HasSubstr("the sign of u is wrong"));
}

TEST(TextDiagnosis, AWrongConstantAWrongLengthAndAWrongTimeStep) {
  const auto declared = pde_of(kFisher);
  EXPECT_NEAR(only_cause(*declared, true_data(*pde_of(kFisher, {{"D", 0.03}}))).evidence.value("fitted", 0.0), 0.03,
              1e-4);
  // Twice as long is the same as a quarter of D.
  const auto found = diagnose(*declared, true_data(*pde_of(kFisher, {{"length_x", 4.0}})), "");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0][0].evidence.value("fitted", 0.0), 0.0025, 1e-5) << found[0][0].sentence();
  EXPECT_NEAR(found[1][0].evidence.value("fitted", 0.0), 4, 1e-3) << found[1][0].sentence();
  const auto step = only_cause(*declared, true_data(*pde_of(kFisher, {{"duration", 1.0625}})));
  EXPECT_THAT(step.what, HasSubstr("a time step of 0.0664"));
  EXPECT_THAT(step.what, HasSubstr("as if one more point were stored"));
}

TEST(TextDiagnosis, NodesWhereThereAreCells) {
  const auto smooth = replaced(kRock, "where(g >= 0, 12, 3)", "exp(g)");
  const auto nodes =
      pde_of(replaced(replaced(smooth, "24, \"cells\"", "25, \"nodes\""), "24, \"cells\"", "25, \"nodes\""));
  auto options = options_of(smooth);
  options.grid = 25;
  const auto cause = only_cause(*make_pde(options), true_data(*nodes));
  EXPECT_THAT(cause.what, HasSubstr("nodes, from wall to wall, where rock has the centres of cells"))
      << cause.sentence();
  EXPECT_THAT(cause.advice, HasSubstr("--from nodes"));
}

TEST(TextDiagnosis, TheOtherMeanOnFaces) {
  const auto arithmetic = pde_of(kRock), harmonic = pde_of(replaced(kRock, "div(a*", "div(harmonic(a)*"));
  const auto a = only_cause(*arithmetic, true_data(*harmonic));
  EXPECT_THAT(a.what, HasSubstr("harmonic means of the coefficients")) << a.sentence();
  EXPECT_THAT(a.advice, HasSubstr("write harmonic(..)"));
  const auto h = only_cause(*harmonic, true_data(*arithmetic));
  EXPECT_THAT(h.what, HasSubstr("arithmetic means of the coefficients")) << h.sentence();
  EXPECT_LT(h.evidence.at("rel_residual")[1].get<double>(), 1e-4);
}

TEST(TextDiagnosis, SpectralDerivatives) {
  const std::string text = R"toml(
name = "ring"
equation = "-lap(u) + u = f"
grid = { x = [0, 1, 32, "periodic"], y = [0, 1, 32, "periodic"] }
coefficients = { f = "field: periodic(alpha=4, tau=3)" }
)toml";
  const auto compact = pde_of(text), spectral = pde_of(text + "derivatives = \"spectral\"\n");
  const auto cause = only_cause(*compact, true_data(*spectral));
  EXPECT_THAT(cause.what, HasSubstr("spectral derivatives along periodic axes")) << cause.sentence();
}

TEST(TextDiagnosis, AFactorOnTheSolutionAtAllTimes) {
  const auto pde = pde_of(R"toml(
name = "warm"
equation = "dt(u) = 0.01*lap(u)"
grid = { x = [0, 1, 16, "cells"], y = [0, 1, 16, "cells"], t = [0, 1, 4] }
boundary = { x = "u = 0", y = "u = 0" }
initial = "u = u0"
coefficients = { u0 = "field: gauss(alpha=3, tau=3)" }
)toml");
  auto x = true_data(*pde);
  pde->solution(x).mul_(2);
  const auto cause = only_cause(*pde, x);
  EXPECT_THAT(cause.what, HasSubstr("u1, u2 and u3 have a factor: they have to be multiplied by 0.5"))
      << cause.sentence();
  EXPECT_THAT(cause.advice, HasSubstr("--scale u1=0.5"));
}

}  // namespace
}  // namespace piddm
