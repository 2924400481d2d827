// What PDEs by text add to what every PDE does (tests/pde/contract_test.cpp runs on the examples too).
#include "piddm/pde/text/text_pde.h"

#include "piddm/core/toml_text.h"
#include "piddm/pde/physics_loss.h"
#include "tests/flux_darcy.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::any_pde;
using testing::relative_error;

PdeOptions options_from(const std::string& toml, const GridSize& grid = 0) {
  auto options = options_of_text(parse_toml(toml, "test.toml"), "test.toml");
  if (grid != GridSize(0)) options.grid = grid;
  return options;
}

const char* const kDarcy = R"toml(
name = "darcy-by-text"
equation = "-div(a*grad(u)) = 1"
grid = { x = [0, 1, 32, "cells"], y = [0, 1, 32, "cells"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "field: gauss(alpha=2, tau=3) -> where(g >= 0, 12, 3)" }
)toml";

const char* const kStates = R"toml(
name = "states"
equation = "dt(u) = lap(u) + k*u0"
grid = { x = [0, 1, 16, "nodes"], y = [0, 1, 24, "nodes"], t = [0, 0.1, 4] }
boundary = { x_low = "u = t", x_high = "u = 0", y = "dn(u) = 0" }
initial = "u = u0"
parameters = { k = 2 }
coefficients = { u0 = "field: sine(alpha=3, tau=4)" }
units = { u = "K" }
titles = { u = "temperature" }
)toml";

double rel_residual(const Pde& pde, const Tensor& x) {
  const auto r = pde.residual(x);
  double worst = 0;
  for (const auto& field : r.fields)
    worst = std::max(worst, (field.interior.square().mean() / field.reference.square().mean()).sqrt().item<double>());
  return worst;
}

class Example : public ::testing::TestWithParam<std::string> {};

TEST_P(Example, SolutionsSatisfyTheResidualToRoundOff) {
  const auto pde = any_pde(GetParam(), 24);
  EXPECT_LT(rel_residual(*pde, pde->sample(1, 0, 3)), 1e-9);
  const auto r = pde->residual(pde->sample(1, 0, 3));
  if (r.boundary.defined()) {
    EXPECT_LT(r.boundary.abs().max().item<double>(), 1e-12);
  }
}

TEST_P(Example, WhiteNoiseOfOnePercentHasAnErrorOfOnePercent) {
  const auto pde = any_pde(GetParam(), {24, 32});
  const auto& by_text = dynamic_cast<const TextPde&>(*pde);
  auto x = pde->sample(5, 0, 8);
  const auto shape = pde->solution(x).sizes();
  const auto noise = normal(7, Stream::noise, 0, 8, {shape[1], shape[2], shape[3]}, torch::kFloat64);
  const int64_t each = shape[1] / by_text.system().fields();
  for (int64_t c = 0; c < shape[1]; ++c)
    x.select(1, c) += 0.01 * by_text.sizes()[static_cast<size_t>(c / each)] * noise.select(1, c);
  for (const auto& error : pde->equation_errors(pde->residual(x))) {
    EXPECT_GT(error.mean().item<double>(), 0.005);
    EXPECT_LT(error.mean().item<double>(), 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Example, ::testing::ValuesIn(testing::example_pdes()), [](const auto& test) {
  auto name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(TextPde, DrawsAndSolvesWhatTheBuiltInPdeDoes) {
  const auto by_text = make_pde(options_from(kDarcy)), built_in = any_pde("darcy", 32);
  const auto x = by_text->sample(3, 5, 2), y = built_in->sample(3, 5, 2);
  EXPECT_TRUE(torch::equal(by_text->coefficients(x), built_in->coefficients(y)));
  EXPECT_LT(relative_error(by_text->solution(x), built_in->solution(y)), 1e-9);
  EXPECT_LT(relative_error(-by_text->residual(y + 0.1).fields[0].interior,  // left - right, the built-in 1 - left
                           built_in->residual(y + 0.1).fields[0].interior),
            1e-12);
}

TEST(TextPde, AUnitStaysWhatItIsWhenAConstantChanges) {
  auto options = options_from(kStates);
  const double usual = make_pde(options)->equations()[0].scale;
  options.parameters = {{"k", 50.0}, {"length_x", 3.0}};
  const auto changed = make_pde(options);
  EXPECT_EQ(changed->equations()[0].scale, usual);
  EXPECT_EQ(changed->axes()[0].length, 3.0);
  options.parameters = {{"kk", 1}};
  EXPECT_ERROR(make_pde(options), ExitCode::usage, "did you mean 'k'?");
}

TEST(TextPde, StatesInTimeAreChannels) {
  const auto pde = make_pde(options_from(kStates));
  EXPECT_THAT(pde->channel_names(), ::testing::ElementsAre("u1", "u2", "u3", "u0"));
  EXPECT_EQ(pde->channels()[1].label(), "u2, temperature at t = 0.06667");
  EXPECT_EQ(pde->channels()[1].unit, "K");
  const auto x = pde->sample(0, 0, 2);
  EXPECT_EQ(x.sizes(), torch::IntArrayRef({2, 4, 16, 24}));
  const auto r = pde->residual(x);
  EXPECT_EQ(r.fields[0].interior.sizes(), torch::IntArrayRef({2, 1, 14, 3 * 24}));
  EXPECT_LT(r.fields[0].interior.abs().max().item<double>(), 1e-9);
  EXPECT_EQ(r.boundary.sizes(), torch::IntArrayRef({2, 3 * 2 * 24}));
  // u = t at x = 0
  EXPECT_LT((x.select(1, 2).select(1, 0) - 0.1).abs().max().item<double>(), 1e-14);
  const auto constrained = pde->constrain(torch::ones_like(x));
  EXPECT_LT((constrained.select(1, 1).select(1, 0) - 0.2 / 3).abs().max().item<double>(), 1e-14);
  EXPECT_EQ(constrained.select(1, 3).min().item<double>(), 1);
}

TEST(TextPde, AnInitialStateIsGivenAndChecked) {
  const auto pde = any_pde("fisher", {32, 24});
  EXPECT_TRUE(pde->given_boundary().select(2, 0).all().item<bool>());
  EXPECT_FALSE(pde->given_boundary().narrow(2, 1, 23).any().item<bool>());
  auto x = pde->sample(0, 0, 1);
  x.select(1, 0).select(2, 0) += 0.25;
  EXPECT_NEAR(pde->residual(x).boundary.mean().item<double>(), 0.25, 1e-12);
}

TEST(TextPde, ViolationsOfAnotherFieldAreInUnitsOfTheFirst) {
  const auto pde = any_pde("gray-scott", 16);
  const auto& by_text = dynamic_cast<const TextPde&>(*pde);
  auto x = pde->sample(0, 0, 1);
  x.select(1, 1).select(2, 0) += 0.1;
  const auto wrong = pde->residual(x).boundary.abs().max().item<double>();
  EXPECT_NEAR(wrong, 0.1 * by_text.sizes()[0] / by_text.sizes()[1], 1e-9);
}

TEST(TextPde, ThePreconditionerIsSymmetricAndCloseToTheOperator) {
  const auto pde = make_pde(options_from(kDarcy));
  ASSERT_TRUE(pde->has_preconditioner());
  const auto x = pde->sample(2, 0, 2);
  const auto error = 0.05 * pde->solution(x);
  auto wrong = x.clone();
  wrong.narrow(1, 0, 1) += error;
  const auto implied = pde->precondition(pde->residual(wrong));
  const auto ratio = implied.square().mean().sqrt() / error.square().mean().sqrt();
  EXPECT_GT(ratio.item<double>(), 0.4);
  EXPECT_LT(ratio.item<double>(), 2.5);
  const auto v = normal(0, Stream::noise, 0, 1, {1, 32, 32}, torch::kFloat64);
  const auto w = normal(1, Stream::noise, 0, 1, {1, 32, 32}, torch::kFloat64);
  const auto fast = [&](const Tensor& r) { return pde->precondition({.fields = {{.interior = r}}}); };
  EXPECT_NEAR((fast(v) * w).sum().item<double>(), (v * fast(w)).sum().item<double>(), 1e-9);
}

TEST(TextPde, TheCorrectorConvergesToTheSolution) {
  for (const std::string name : {"darcy", "darcy-robin", "advection-diffusion"}) {  // the last one by GMRES
    const auto pde = name == "darcy" ? make_pde(options_from(kDarcy)) : any_pde(name, 24);
    ASSERT_TRUE(pde->has_corrector()) << name;
    const auto truth = pde->sample(4, 0, 2);
    auto x = truth.clone();
    x.select(1, 0) *= 1.2;
    double last = relative_error(x, truth);
    for (const int64_t k : {2, 8, 60}) {
      const auto error = relative_error(pde->correct(x, k), truth);
      EXPECT_LT(error, 0.7 * last) << name << ", " << k;
      last = error;
    }
    EXPECT_LT(last, 1e-8) << name;
  }
  EXPECT_FALSE(any_pde("nonlinear-poisson", 16)->has_corrector());
  EXPECT_FALSE(any_pde("fisher", 16)->has_corrector());
}

TEST(TextPde, TheCorrectorIsDifferentiableInSolutionAndCoefficient) {
  const auto pde = any_pde("darcy-robin", 16);
  const auto x = pde->sample(4, 0, 1) * 1.1;
  const auto weights = normal(3, Stream::noise, 0, 1, {2, 16, 16}, torch::kFloat64);
  const auto f = [&](const Tensor& y) { return (pde->correct(y, 3) * weights).sum(); };
  EXPECT_LT(testing::gradient_error(f, x, 12, 1e-7), 2e-5);  // close to the solution the quotients of CG bend fast
}

TEST(TextPde, DecodingCountsTheIterationsOfEachSample) {
  const auto pde = any_pde("nonlinear-poisson", 16);
  auto x = pde->sample(4, 0, 2);
  x[1].select(0, 0) *= 1.5;
  const auto decoded = pde->decode(x);
  EXPECT_GT(decoded.iterations[1].item<int64_t>(), decoded.iterations[0].item<int64_t>());
  EXPECT_LT(relative_error(decoded.x, pde->sample(4, 0, 2)), 1e-9);
}

TEST(TextPde, RefusesWhatItCannotDo) {
  auto options = options_from(kDarcy);
  options.definition.table["coefficients"]["a"] = "data: field";
  const auto pde = make_pde(options);
  EXPECT_FALSE(pde->has_law());
  EXPECT_ERROR(pde->sample_coefficients(0, 0, 1), ExitCode::usage, "the text gives no law of a");
  auto fixed = parse_toml(kDarcy, "t.toml");
  fixed["equation"] = "-lap(u) = 1";
  fixed.erase("coefficients");
  EXPECT_ERROR(make_pde(options_of_text(fixed, "t.toml")), ExitCode::usage, "every sample would be the same");
  const auto bounded = any_pde("fisher", 16);
  auto a = bounded->sample_coefficients(0, 0, 1);
  a.select(1, 0).fill_(5);
  EXPECT_ERROR(bounded->solve(a), ExitCode::data, "D must be between 0.001 and 0.01");
}

TEST(TextPde, APlaceOfTimeCannotBearANameTwice) {
  auto table = parse_toml(kStates, "t.toml");
  table["coefficients"] = {{"u1", "field: sine(alpha=3, tau=4)"}};
  table["initial"] = "u = u1";
  table["equation"] = "dt(u) = lap(u) + k*u1";
  EXPECT_ERROR(make_pde(options_of_text(table, "t.toml")), ExitCode::usage, "the name u1");
}

}  // namespace
}  // namespace piddm
