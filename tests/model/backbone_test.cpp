// What every network must do, and what the ones beside the FNO compute: values and gradients of
// tests/golden/make_backbones.py.

#include "piddm/files/safetensors.h"
#include "piddm/model/network_registry.h"
#include "piddm/model/student.h"
#include "piddm/model/weights.h"
#include "tests/model/gradient.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::gradient_error;
using testing::parameter_gradient_error;
using testing::relative_error;

/// The sizes of tests/golden/make_backbones.py.
const std::map<std::string, json>& golden_backbones() {
  static const std::map<std::string, json> options = {
      {"unet",
       {{"width", 4},
        {"multipliers", {1, 2, 3}},
        {"blocks", 1},
        {"attention", 2},
        {"head_width", 4},
        {"groups", 2},
        {"time_features", 8},
        {"modes", {4, 4}}}},
      {"autoencoder",
       {{"width", 4},
        {"multipliers", {1, 2, 3}},
        {"blocks", 2},
        {"groups", 2},
        {"time_features", 8},
        {"modes", {4, 4}}}},
      {"ffno",
       {{"modes", {6, 4}},
        {"width", 5},
        {"layers", 3},
        {"hidden", 7},
        {"lifting", 8},
        {"projection", 6},
        {"time_features", 8}}},
      {"mlp", {{"points", 12}, {"width", 9}, {"layers", 2}}},
  };
  return options;
}

struct Golden {
  NetworkPtr network;
  TensorMap tensors;
};

Golden golden(const std::string& type, torch::ScalarType dtype = torch::kFloat64) {
  Golden out{make_network(type, golden_backbones().at(type), 0),
             read_safetensors(testing::golden("backbone_" + type + ".safetensors")).tensors};
  TensorMap weights;
  const std::string prefix = "weights.";
  for (const auto& [name, value] : out.tensors)
    if (name.rfind(prefix, 0) == 0) weights[name.substr(prefix.size())] = value;
  load_weights(*out.network, weights, "golden");
  out.network->to(dtype);
  return out;
}

class GoldenBackbone : public ::testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  void check(torch::ScalarType dtype, double tolerance) {
    const auto& [type, size] = GetParam();
    const auto [network, tensors] = golden(type, dtype);
    const auto at = [&, &all = tensors](const std::string& key) { return all.at(GetParam().second + "." + key); };
    const auto x = at("x").to(dtype).clone().requires_grad_(true);
    const auto y = (*network)(x, at("t").to(dtype));
    EXPECT_EQ(y.scalar_type(), dtype);
    EXPECT_LT(relative_error(y, at("y")), tolerance) << size;
    y.backward(at("g").to(dtype));
    EXPECT_LT(relative_error(x.grad(), at("x_grad")), tolerance) << size;
  }
};

TEST_P(GoldenBackbone, Float32MatchesTheIndependentImplementation) { check(torch::kFloat32, 1e-5); }
TEST_P(GoldenBackbone, Float64MatchesTheIndependentImplementation) { check(torch::kFloat64, 1e-12); }

using Case = std::pair<std::string, std::string>;
INSTANTIATE_TEST_SUITE_P(Grids, GoldenBackbone,
                         ::testing::Values(Case{"unet", "8x8"}, Case{"unet", "9x7"}, Case{"autoencoder", "8x8"},
                                           Case{"autoencoder", "9x7"}, Case{"ffno", "12x10"}, Case{"ffno", "9x7"},
                                           Case{"ffno", "4x3"}, Case{"mlp", "4x3"}),
                         [](const auto& test) { return test.param.first + test.param.second; });

/// A network with the golden weights (nothing is zero) in float64 on 4x3 points, the grid of the MLP.
class Backbone : public ::testing::TestWithParam<std::string> {
 protected:
  const NetworkPtr network = golden(GetParam()).network;
  const Tensor x = torch::randn({3, 2, 4, 3}, torch::kFloat64), t = torch::tensor({0.1, 0.6, 1.0}, torch::kFloat64);
};

TEST_P(Backbone, GradientOfTheInputMatchesDifferences) {
  EXPECT_LT(gradient_error([&](const Tensor& v) { return (*network)(v, t).pow(3).sum(); }, x), 1e-6);
}

TEST_P(Backbone, GradientOfEveryParameterMatchesDifferences) {
  const auto loss = [&] { return (*network)(x, t).pow(3).sum(); };
  for (const auto& entry : network->named_parameters())
    EXPECT_LT(parameter_gradient_error(loss, entry.value(), 1), 1e-5) << entry.key();
}

TEST_P(Backbone, HasSecondDerivatives) {
  const auto squared_slope = [&](const Tensor& v) {
    return torch::autograd::grad({(*network)(v, t).pow(3).sum()}, {v}, {}, true, /*create_graph=*/true)[0]
        .square()
        .sum();
  };
  const auto v = x.clone().requires_grad_();
  const auto direction = torch::randn_like(x);
  const double exact = (torch::autograd::grad({squared_slope(v)}, {v})[0] * direction).sum().item<double>(),
               step = 1e-6;
  const auto at = [&](double s) { return squared_slope((x + s * direction).requires_grad_()).item<double>(); };
  EXPECT_NEAR((at(step) - at(-step)) / (2 * step), exact, 1e-5 * std::abs(exact));
}

TEST_P(Backbone, OneTimeServesTheBatch) {
  const auto one = torch::full({1}, 0.4, torch::kFloat64), each = torch::full({3}, 0.4, torch::kFloat64);
  EXPECT_LT(relative_error((*network)(x, one), (*network)(x, each)), 1e-14);
}

TEST_P(Backbone, SamplesDoNotSeeEachOther) {
  const auto together = (*network)(x, t);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_LT(relative_error((*network)(x.narrow(0, i, 1), t.narrow(0, i, 1)), together.narrow(0, i, 1)), 1e-13);
}

TEST_P(Backbone, MemoryLayoutDoesNotMatter) {
  const auto strided = x.transpose(2, 3).contiguous().transpose(2, 3);
  EXPECT_LT(relative_error((*network)(strided, t), (*network)(x, t)), 1e-14);
}

TEST_P(Backbone, TimeChangesTheResult) { EXPECT_GT(relative_error((*network)(x, t), (*network)(x, t * 0.5)), 1e-3); }

TEST_P(Backbone, CountsItsEvaluations) {
  const WorkMeter meter(*network);
  (*network)(x, t).sum().backward();
  EXPECT_EQ(meter.spent().forward, 3);
  EXPECT_EQ(meter.spent().backward, 3);
}

TEST_P(Backbone, WrongShapesAreRefused) {
  const auto name = "[" + GetParam() + "] expected ";
  EXPECT_ERROR((*network)(torch::zeros({1, 3, 4, 3}), t), ExitCode::data, name + "(B,2,H,W), got (1,3,4,3)");
  EXPECT_ERROR((*network)(torch::zeros({2, 4, 3}), t), ExitCode::data, name + "(B,2,H,W), got (2,4,3)");
  EXPECT_ERROR((*network)(x, t.narrow(0, 0, 2)), ExitCode::data, name + "3 times, got (2)");
}

INSTANTIATE_TEST_SUITE_P(Types, Backbone, ::testing::Values("unet", "autoencoder", "ffno", "mlp"),
                         [](const auto& test) { return test.param; });

/// Fresh weights in a model of the tiny Darcy problem.
class FreshBackbone : public ::testing::TestWithParam<std::string> {
 protected:
  FreshBackbone() { model.network = fresh(7); }

  NetworkPtr fresh(uint64_t seed) const {
    auto options = golden_backbones().at(GetParam());
    if (options.contains("points")) options["points"] = testing::kTinyGrid * testing::kTinyGrid;
    return make_network(GetParam(), options, seed);
  }

  HeadOptions heads() const {
    auto all = testing::all_heads();
    all.band_limited = GetParam() != "mlp";
    return all;
  }

  Model model = testing::tiny_teacher();
  const Tensor e = model.latents(3, Stream::latents, 0, 4);
};

TEST_P(FreshBackbone, WeightsAreAFunctionOfTheSeed) {
  const auto again = weights_of(*fresh(7)), other = weights_of(*fresh(8));
  for (const auto& [name, value] : weights_of(*model.network)) {
    EXPECT_TRUE(value.equal(again.at(name))) << name;
    const bool drawn = value.std().item<double>() > 0;
    EXPECT_NE(value.equal(other.at(name)), drawn) << name;
  }
}

TEST_P(FreshBackbone, StartsNearUnitVariance) {
  const double variance = (*model.network)(e, torch::ones({1})).var().item<double>();
  EXPECT_GT(variance, 0.02);
  EXPECT_LT(variance, 5);
}

TEST_P(FreshBackbone, IsKeptAsATeacherBitForBit) {
  const testing::TempDir folder;
  save_model(folder / "m", model);
  const auto loaded = load_model(folder / "m");
  const auto t = torch::full({1}, 0.5);
  EXPECT_EQ(loaded.network->options_json(), model.network->options_json());
  EXPECT_TRUE((*loaded.network)(e, t).equal((*model.network)(e, t)));
}

TEST_P(FreshBackbone, IsKeptAsAStudentBitForBit) {
  const testing::TempDir folder;
  model.kind = ModelKind::student;
  model.heads = heads();
  save_model(folder / "m", model);
  const auto x = Student(load_model(folder / "m"))(e);
  EXPECT_TRUE(x.equal(Student(model)(e)));
  const auto a = model.normalizer.to_physical(x).select(1, 1);
  EXPECT_GE(a.min().item<double>(), 3 - 1e-4);
  EXPECT_LE(a.max().item<double>(), 12 + 1e-4);
}

TEST_P(FreshBackbone, StepsDownTheGradientLowerTheLossOfAStudent) {
  const auto x0 = model.normalizer.to_network(testing::tiny_data(4)).to(torch::kFloat32);
  const Student student(model, heads());
  const auto loss = [&] { return (student(e) - x0).square().mean(); };
  const auto parameters = model.network->parameters();
  const double before = loss().item<double>();
  for (int step = 0; step < 5; ++step) {
    const auto gradients = torch::autograd::grad({loss()}, parameters);
    const torch::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters.size(); ++i) parameters[i].sub_(0.02 * gradients[i]);
  }
  EXPECT_LT(loss().item<double>(), before);
}

INSTANTIATE_TEST_SUITE_P(Types, FreshBackbone, ::testing::Values("unet", "autoencoder", "ffno", "mlp"),
                         [](const auto& test) { return test.param; });

TEST(Backbones, RunOnAnyGrid) {
  const torch::NoGradGuard no_grad;
  for (const std::string type : {"fno", "ffno", "unet", "autoencoder"}) {
    const auto network = type == "fno" ? testing::tiny_network(1) : golden(type, torch::kFloat32).network;
    for (const auto& [height, width] : std::vector<std::pair<int64_t, int64_t>>{{16, 16}, {17, 16}, {5, 12}, {2, 3}}) {
      const auto y = (*network)(torch::randn({1, 2, height, width}), torch::ones({1}));
      EXPECT_EQ(y.sizes(), (std::vector<int64_t>{1, 2, height, width})) << type;
      EXPECT_TRUE(all_finite(y)) << type << " " << height << "x" << width;
    }
  }
}

TEST(Backbones, FusedMlpsOfTheFfnoAreTheComposedOnes) {
  auto options = golden_backbones().at("ffno");
  const auto fused = make_network("ffno", options, 2);
  options["fused"] = false;
  const auto composed = make_network("ffno", options, 2);
  const auto x = torch::randn({2, 2, 12, 10}), t = torch::full({1}, 0.3);
  EXPECT_LT(relative_error((*fused)(x, t), (*composed)(x, t)), 1e-5);
}

TEST(Backbones, NothingPassesTheMiddleOfTheAutoencoderBy) {
  // With the map out of the coarsest level at zero the output cannot depend on the input.
  auto network = golden("autoencoder").network;
  const torch::NoGradGuard no_grad;
  for (auto& p : network->named_parameters())
    if (p.key().rfind("decoder_2_change", 0) == 0) p.value().zero_();
  const auto t = torch::full({1}, 0.5, torch::kFloat64);
  const auto a = (*network)(torch::randn({1, 2, 8, 8}, torch::kFloat64), t);
  const auto b = (*network)(torch::randn({1, 2, 8, 8}, torch::kFloat64), t);
  EXPECT_TRUE(a.equal(b));
}

int64_t parameters_of(const std::string& type) {
  int64_t count = 0;
  for (const auto& p : make_network(type, json::object(), 0)->parameters()) count += p.numel();
  return count;
}

TEST(Backbones, DefaultsHaveThePapersScale) {
  EXPECT_EQ(parameters_of("unet"), 15494642);         // the paper's robustness table: about 15 M
  EXPECT_EQ(parameters_of("autoencoder"), 16223554);  // about the same
  // 4 (2 17 2 64^2 + (64+1) 128 + (128+1) 64) + (36+1) 128 + (128+1) 64 + (64+1) 128 + (128+1) 2
  EXPECT_EQ(parameters_of("ffno"), 1201986);
}

TEST(Backbones, WrongOptionsAreRefused) {
  const std::vector<std::tuple<std::string, json, std::string>> cases = {
      {"unet", {{"width", 0}}, "model.width: must be at least 1 and at most 65536, got 0"},
      {"unet", {{"multipliers", json::array()}}, "model.multipliers: 1 to 16 levels, got 0"},
      {"autoencoder", {{"multipliers", std::vector<int>(5000, 1)}}, "model.multipliers: 1 to 16 levels, got 5000"},
      {"unet", {{"multipliers", {1, 0}}}, "model.multipliers: must be at least 1 and at most 1024, got 0"},
      {"unet", {{"attention", 6}}, "model.attention: 6 levels of 5"},
      {"unet", {{"head_width", 0}}, "model.head_width: must be at least 1 and at most 65536, got 0"},
      {"unet", {{"modes", {3, 4}}}, "model.modes: 3 is not an even number"},
      {"autoencoder", {{"blocks", 0}}, "model.blocks: must be at least 1 and at most 1024, got 0"},
      {"autoencoder", {{"time_features", 7}}, "model.time_features: 7 is not an even number"},
      {"autoencoder", {{"attention", 1}}, "unknown key of [model] 'attention'"},
      {"ffno", {{"modes", {8}}}, "model.modes: expected two numbers, got 1"},
      {"ffno", {{"hidden", 0}}, "model.hidden: must be at least 1 and at most 65536, got 0"},
      {"unet", {{"width", 65536}}, "model: its sizes make a network of more than 2147483648 parameters"},
      {"ffno", {{"width", 65536}}, "model: its sizes make a network of more than 2147483648 parameters"},
      {"autoencoder", {{"multipliers", {1024, 1024}}}, "model: its sizes make a network of more than"},
      {"mlp", {{"width", 65536}}, "model: its sizes make a network of more than 2147483648 parameters"},
      {"mlp", {{"points", 0}}, "model.points: must be at least 1 and at most 1048576, got 0"},
  };
  for (const auto& [type, options, message] : cases)
    EXPECT_ERROR(make_network(type, options, 0), ExitCode::usage, message);
}

TEST(Backbones, BandLimitedNeedsModes) {
  auto model = testing::tiny_student();
  model.network = make_network("mlp", {{"points", 256}}, 0);
  EXPECT_ERROR(Student{model}, ExitCode::usage, "heads.band_limited: a network of type 'mlp' has no Fourier modes");
}

TEST(DescribeNetworks, ListsTheOptionsOfEveryType) {
  const auto text = describe_networks("model");
  for (const auto& entry : network_registry().entries()) {
    const auto at = text.find(fmt::format("# model.type = \"{}\": {}", entry.name, entry.summary));
    ASSERT_NE(at, std::string::npos) << entry.name;
    const auto section = text.substr(at, text.find("\n\n", at) - at);
    const auto options = entry.make({{"width", 4}}, 0)->options_json();
    for (const auto& [key, value] : options.items())
      EXPECT_THAT(section, ::testing::HasSubstr("model." + key + " = ")) << entry.name;
  }
}

}  // namespace
}  // namespace piddm
