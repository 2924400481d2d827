#include "piddm/model/fno.h"

#include "piddm/files/safetensors.h"
#include "piddm/model/weights.h"
#include "tests/model/gradient.h"

namespace piddm {
namespace {

using testing::gradient_error;
using testing::parameter_gradient_error;
using testing::relative_error;

const TensorMap& golden_tensors() {
  static const TensorMap tensors = read_safetensors(testing::golden("fno.safetensors")).tensors;
  return tensors;
}

/// The sizes of tests/golden/make_fno.py.
FnoOptions golden_options(SpectralForm form = SpectralForm::gemm) {
  FnoOptions o;
  o.modes = {6, 4};
  o.width = 6;
  o.layers = 3;
  o.lifting = 10;
  o.projection = 12;
  o.spectral = form;
  return o;
}

Fno golden_network(SpectralForm form, torch::ScalarType dtype) {
  Fno network(golden_options(form), 0);
  TensorMap weights;
  const std::string prefix = "weights.";
  for (const auto& [name, value] : golden_tensors())
    if (name.rfind(prefix, 0) == 0) weights[name.substr(prefix.size())] = value;
  load_weights(network, weights, "golden");
  network.to(dtype);
  return network;
}

class GoldenFno : public ::testing::TestWithParam<std::tuple<SpectralForm, std::string>> {
 protected:
  void check(torch::ScalarType dtype, double tolerance) {
    const auto& [form, size] = GetParam();
    const auto at = [&](const std::string& key) { return golden_tensors().at(std::get<1>(GetParam()) + "." + key); };
    auto network = golden_network(form, dtype);
    const auto x = at("x").to(dtype).clone().requires_grad_(true);
    const auto y = network(x, at("t").to(dtype));
    EXPECT_EQ(y.scalar_type(), dtype);
    EXPECT_LT(relative_error(y, at("y")), tolerance) << size;
    y.backward(at("g").to(dtype));
    EXPECT_LT(relative_error(x.grad(), at("x_grad")), tolerance) << size;
  }
};

TEST_P(GoldenFno, Float32MatchesTheIndependentImplementation) { check(torch::kFloat32, 1e-5); }
TEST_P(GoldenFno, Float64MatchesTheIndependentImplementation) { check(torch::kFloat64, 1e-12); }

std::string name_of(const ::testing::TestParamInfo<GoldenFno::ParamType>& test) {
  const auto form = std::get<0>(test.param);
  return enum_names(form)[static_cast<size_t>(form)] + std::get<1>(test.param);
}

INSTANTIATE_TEST_SUITE_P(Grids, GoldenFno,
                         ::testing::Combine(::testing::Values(SpectralForm::fused, SpectralForm::gemm,
                                                              SpectralForm::fft),
                                            ::testing::Values("12x10", "9x11", "5x4", "4x3")),
                         name_of);

struct FormResult {
  Tensor y, x_grad;
  std::vector<Tensor> gradients;
};

/// A network of `options` in one form on fixed data.
FormResult run_form(FnoOptions options, SpectralForm form, torch::ScalarType dtype, int64_t height, int64_t width) {
  options.spectral = form;
  Fno network(options, 4);
  network.to(dtype);
  torch::manual_seed(5);
  const auto x = torch::randn({3, options.inputs(), height, width}).to(dtype).requires_grad_();
  const auto t = torch::tensor({0.125, 0.5, 1.0}, dtype);  // exact in both precisions
  const auto y = network(x, t);
  y.square().mean().backward();
  FormResult result{y.detach(), x.grad(), {}};
  for (const auto& p : network.parameters()) result.gradients.push_back(p.grad());
  return result;
}

// Float32 against the composed form in float64: the fused form is as good as the composed ones.
void expect_forms_agree(int64_t skip, const std::vector<std::pair<int64_t, int64_t>>& grids) {
  FnoOptions options;
  options.modes = {12, 12};
  options.width = 16;
  options.lifting = options.projection = 48;
  options.skip = skip;
  for (const auto& [height, width] : grids) {
    const auto exact = run_form(options, SpectralForm::gemm, torch::kFloat64, height, width);
    for (const auto form : {SpectralForm::fused, SpectralForm::gemm, SpectralForm::fft}) {
      const auto result = run_form(options, form, torch::kFloat32, height, width);
      const auto name = enum_names(form)[static_cast<size_t>(form)] + " " + std::to_string(height);
      EXPECT_LT(relative_error(result.y, exact.y), 3e-6) << name;
      EXPECT_LT(relative_error(result.x_grad, exact.x_grad), 5e-6) << name;
      for (size_t i = 0; i < exact.gradients.size(); ++i)
        EXPECT_LT(relative_error(result.gradients[i], exact.gradients[i]), 1e-5) << name << " parameter " << i;
    }
  }
}

TEST(FnoForms, AgreeWithDoubleInOutputsAndAllGradients) { expect_forms_agree(1, {{32, 32}, {17, 23}, {8, 9}}); }

TEST(FnoForms, AgreeWithConvolutionsBesideTheModes) { expect_forms_agree(3, {{32, 32}, {48, 96}, {17, 23}}); }

TEST(FnoConditions, AgreeInEveryFormWithOneAndWithNineTaps) {
  FnoOptions options;
  options.modes = {8, 6};
  options.width = 8;
  options.layers = 2;
  options.lifting = options.projection = 24;
  options.conditions = 10;
  for (const int64_t skip : {1, 3}) {
    options.skip = skip;
    const auto exact = run_form(options, SpectralForm::gemm, torch::kFloat64, 17, 20);
    EXPECT_EQ(exact.y.size(1), options.channels);
    for (const auto form : {SpectralForm::fused, SpectralForm::gemm, SpectralForm::fft}) {
      const auto result = run_form(options, form, torch::kFloat32, 17, 20);
      EXPECT_LT(relative_error(result.y, exact.y), 3e-6) << skip;
      EXPECT_LT(relative_error(result.x_grad, exact.x_grad), 5e-6) << skip;
      for (size_t i = 0; i < exact.gradients.size(); ++i)
        EXPECT_LT(relative_error(result.gradients[i], exact.gradients[i]), 1e-5) << skip << " parameter " << i;
    }
  }
}

TEST(FnoConditions, WithoutWeightTheyChangeNothing) {
  auto options = golden_options();
  Fno plain(options, 3);
  options.conditions = 3;
  Fno conditional(options, 3);
  const torch::NoGradGuard no_grad;
  auto weights = weights_of(plain);
  const auto lift = weights.at("lift1_weight");
  weights["lift1_weight"] =
      torch::cat({lift.narrow(1, 0, 2), torch::zeros({lift.size(0), 3}), lift.narrow(1, 2, lift.size(1) - 2)}, 1);
  load_weights(conditional, weights, "plain");
  const auto x = torch::randn({2, 2, 9, 11}), t = torch::ones({1});
  const auto y = conditional(torch::cat({x, torch::randn({2, 3, 9, 11})}, 1), t);
  EXPECT_LT(relative_error(y, plain(x, t)), 1e-6);
  EXPECT_THROW(conditional(x, t), DataError);
}

TEST(FnoConditions, AreWrittenOnlyWhereThereAreSome) {
  auto options = golden_options();
  EXPECT_FALSE(Fno(options, 3).options_json().contains("conditions"));
  options.conditions = 3;
  EXPECT_EQ(Fno(options, 3).options_json().at("conditions"), 3);
  const auto again = make_network("fno", Fno(options, 3).options_json(), 3);
  EXPECT_EQ(again->options_json(), Fno(options, 3).options_json());
}

TEST(LocalFno, OneTapInTheMiddleIsThePointwiseMap) {
  FnoOptions options = golden_options();
  Fno plain(options, 3);
  options.skip = 3;
  Fno local(options, 3);
  const torch::NoGradGuard no_grad;
  auto from = plain.named_parameters(), to = local.named_parameters();
  for (auto& entry : to) {
    const auto& source = from[entry.key()];
    if (entry.value().dim() == 4) {
      entry.value().zero_();
      entry.value().select(3, 1).select(2, 1).copy_(source);
    } else {
      entry.value().copy_(source);
    }
  }
  const auto x = torch::randn({2, 2, 12, 9}), t = torch::rand({2});
  EXPECT_LT(relative_error(local(x, t), plain(x, t)), 2e-6);
  EXPECT_TRUE(plain.on_any_grid());
  EXPECT_FALSE(local.on_any_grid());
}

TEST(FnoForms, FusedIsTheDefaultAndOthersLoad) {
  EXPECT_EQ(FnoOptions{}.spectral, SpectralForm::fused);
  for (const std::string form : {"fused", "gemm", "fft"})
    EXPECT_EQ(make_network("fno", {{"modes", {4, 4}}, {"width", 3}, {"spectral", form}}, 0)->options_json()["spectral"],
              form);
}

class SmallFno : public ::testing::Test {
 protected:
  SmallFno() { network.to(torch::kFloat64); }
  Tensor loss() { return network(x, t).pow(3).sum(); }

  Fno network{golden_options(), 3};
  const Tensor x = torch::randn({3, 2, 8, 7}, torch::kFloat64), t = torch::tensor({0.1, 0.6, 1.0}, torch::kFloat64);
};

TEST_F(SmallFno, GradientOfTheInputMatchesDifferences) {
  EXPECT_LT(gradient_error([&](const Tensor& v) { return network(v, t).pow(3).sum(); }, x), 1e-6);
}

TEST_F(SmallFno, GradientOfEveryParameterMatchesDifferences) {
  for (const auto& entry : network.named_parameters())
    EXPECT_LT(parameter_gradient_error([&] { return loss(); }, entry.value()), 1e-6) << entry.key();
}

TEST_F(SmallFno, OneTimeServesTheBatch) {
  const auto one = torch::full({1}, 0.4, torch::kFloat64), each = torch::full({3}, 0.4, torch::kFloat64);
  EXPECT_LT(relative_error(network(x, one), network(x, each)), 1e-14);
}

TEST_F(SmallFno, SamplesDoNotSeeEachOther) {
  const auto together = network(x, t);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_LT(relative_error(network(x.narrow(0, i, 1), t.narrow(0, i, 1)), together.narrow(0, i, 1)), 1e-13);
}

TEST_F(SmallFno, MemoryLayoutDoesNotMatter) {
  const auto strided = x.transpose(2, 3).contiguous().transpose(2, 3);
  ASSERT_FALSE(strided.is_contiguous());
  EXPECT_TRUE(network(strided, t).equal(network(x, t)));
}

TEST_F(SmallFno, TimeChangesTheResult) { EXPECT_GT(relative_error(network(x, t), network(x, t * 0.5)), 1e-2); }

TEST_F(SmallFno, WrongShapesAreRefused) {
  EXPECT_ERROR(network(torch::zeros({1, 3, 8, 8}), t), ExitCode::data, "[fno] expected (B,2,H,W), got (1,3,8,8)");
  EXPECT_ERROR(network(torch::zeros({2, 8, 8}), t), ExitCode::data, "[fno] expected (B,2,H,W), got (2,8,8)");
  EXPECT_ERROR(network(torch::zeros({}), t), ExitCode::data, "[fno] expected (B,2,H,W), got ()");
  EXPECT_ERROR(network(x, t.narrow(0, 0, 2)), ExitCode::data, "[fno] expected 3 times, got (2)");
  EXPECT_ERROR(network(x, t.view({3, 1})), ExitCode::data, "[fno] expected 3 times, got (3,1)");
}

TEST(FnoOptions, DefaultIsThePapersNetwork) {
  int64_t count = 0;
  for (const auto& p : Fno(FnoOptions{}, 0).parameters()) count += p.numel();
  // 4 (32 17 2 64^2 + 64^2 + 64) + (36+1) 256 + (256+1) 64 + (64+1) 256 + (256+1) 2
  EXPECT_EQ(count, 17885506);
}

TEST(FnoOptions, WrongOnesAreRefused) {
  const std::vector<std::pair<json, std::string>> cases = {
      {{{"modes", {7, 8}}}, "model.modes: 7 is not an even number"},
      {{{"modes", {8, 0}}}, "model.modes: must be at least 2 and at most 4096, got 0"},
      {{{"modes", {8}}}, "model.modes: expected two numbers, got 1"},
      {{{"width", 0}}, "model.width: must be at least 1 and at most 65536, got 0"},
      {{{"layers", 0}}, "model.layers: must be at least 1 and at most 1024, got 0"},
      {{{"layers", 1000000000}}, "model.layers: must be at least 1 and at most 1024, got 1000000000"},
      {{{"width", 65536}}, "model: its sizes make a network of more than 2147483648 parameters"},
      {{{"skip", 2}}, "model.skip: must be 1 or 3, is 2"},
      {{{"skip", 5}}, "model.skip: must be at least 1 and at most 3, got 5"},
      {{{"time_features", 5}}, "model.time_features: 5 is not an even number"},
      {{{"time_features", 2}}, "model.time_features: must be at least 4 and at most 4096, got 2"},
      {{{"witdh", 8}}, "unknown key of [model] 'witdh'; did you mean 'width'?"},
      {{{"width", "wide"}}, "model.width: expected a whole number"},
      {{{"spectral", "ftt"}}, "model.spectral: unknown value 'ftt'; did you mean 'fft'?"},
  };
  for (const auto& [options, message] : cases) EXPECT_ERROR(make_network("fno", options, 0), ExitCode::usage, message);
}

TEST(FnoWeights, KeepTheVarianceOfALayer) {
  FnoOptions o;
  o.modes = {12, 12};
  o.layers = 1;
  const auto weights = weights_of(Fno(o, 5));
  const SpectralBasis basis(12, 12, 24, 24, torch::kFloat32);
  const auto x = band_limit(torch::randn({o.width, 4, 24, 24}), basis);
  const auto skip = weights.at("layers_0_skip").matmul(x.reshape({o.width, -1})).view_as(x);
  const auto y = spectral_gemm(x, weights.at("layers_0_spectral"), basis) + skip;
  EXPECT_NEAR((y.var() / x.var()).item<double>(), 1, 0.15);
}

TEST(TimeEncoding, HasItsClosedForm) {
  const auto t = torch::tensor({0.0, 0.3, 1.0}, torch::kFloat64);
  for (const int64_t features : {4, 8, 32}) {
    const auto encoding = time_encoding(t, features);
    ASSERT_EQ(encoding.sizes(), (std::vector<int64_t>{3, features}));
    const int64_t n = features / 2;
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t i = 0; i < n; ++i) {
        const double exponent = -static_cast<double>(i) / static_cast<double>(n - 1);
        const double phase = 2000 * t[b].item<double>() * std::pow(2000.0, exponent);
        EXPECT_NEAR(encoding[b][i].item<double>(), std::sin(phase), 1e-11);
        EXPECT_NEAR(encoding[b][n + i].item<double>(), std::cos(phase), 1e-11);
      }
  }
}

TEST(TimeEncoding, Float32HasTheDigitsOfItsTime) {
  const auto t = torch::rand({64});
  EXPECT_LT((time_encoding(t, 32) - time_encoding(t.to(torch::kFloat64), 32)).abs().max().item<double>(), 1e-6);
}

}  // namespace
}  // namespace piddm
