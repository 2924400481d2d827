#include "piddm/ops/spectral_layer.h"

#include "tests/ops/levels.h"

namespace piddm {
namespace {

using cpu::SimdLevel;
using testing::ForcedLevel;
using testing::relative_error;

struct Sizes {
  int64_t batch, in, out, height, width, modes1, modes2;
  bool activate;
  bool local = false;
};

/// Inputs in the order x, spectral, skip, bias.
struct Problem {
  Sizes sizes;
  std::vector<Tensor> inputs;
  Tensor gradient;
};

Problem problem(const Sizes& s) {
  torch::manual_seed(11);
  const auto skip = s.local ? std::vector<int64_t>{s.out, s.in, 3, 3} : std::vector<int64_t>{s.out, s.in};
  return {s,
          {torch::randn({s.batch, s.in, s.height, s.width}), torch::randn({s.modes1, s.modes2 / 2 + 1, 2, s.out, s.in}),
           torch::randn(skip), torch::randn({s.out})},
          torch::randn({s.batch, s.out, s.height, s.width})};
}

SpectralBasis basis_of(const Sizes& s, torch::ScalarType dtype) {
  return {s.modes1, s.modes2, s.height, s.width, torch::dtype(dtype)};
}

/// Output, then the gradients of all inputs.
template <class F>
std::vector<Tensor> run(const F& f, const Problem& p, torch::ScalarType dtype) {
  std::vector<Tensor> in;
  for (const auto& x : p.inputs) in.push_back(x.to(dtype).clone().requires_grad_());
  const auto y = f(in[0], LayerWeights{in[1], in[2], in[3]});
  y.backward(p.gradient.to(dtype));
  std::vector<Tensor> all{y.detach()};
  for (const auto& x : in) all.push_back(x.grad());
  return all;
}

std::vector<Tensor> run_fused(const Problem& p) {
  const SpectralPlan plan(basis_of(p.sizes, torch::kFloat32));
  return run([&](const Tensor& x, const LayerWeights& w) { return spectral_layer(x, w, plan, p.sizes.activate); }, p,
             torch::kFloat32);
}

std::vector<Tensor> run_formula(const Problem& p) {
  const auto basis = basis_of(p.sizes, torch::kFloat64);
  return run(
      [&](const Tensor& x, const LayerWeights& w) { return spectral_layer_formula(x, w, basis, p.sizes.activate); }, p,
      torch::kFloat64);
}

class SpectralLayer : public ::testing::TestWithParam<std::tuple<SimdLevel, Sizes>> {
 protected:
  const ForcedLevel forced{std::get<0>(GetParam())};
  const Problem p = problem(std::get<1>(GetParam()));
};

TEST_P(SpectralLayer, MatchesItsFormulaInDouble) {
  const auto exact = run_formula(p), fused = run_fused(p);
  const std::vector<std::string> names{"y", "x", "spectral", "skip", "bias"};
  for (size_t i = 0; i < exact.size(); ++i) {
    ASSERT_EQ(fused[i].sizes(), exact[i].sizes()) << names[i];
    EXPECT_LT(relative_error(fused[i], exact[i]), 3e-6) << names[i];
  }
}

TEST_P(SpectralLayer, WritesAllOfItsOutput) {
  const auto clean = run_fused(p);
  const testing::PoisonedMemory poisoned;
  const auto again = run_fused(p);
  for (size_t i = 0; i < clean.size(); ++i) EXPECT_TRUE(again[i].equal(clean[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, SpectralLayer,
    ::testing::Combine(::testing::ValuesIn(cpu::supported_levels()),
                       ::testing::Values(
                           Sizes{1, 1, 1, 4, 4, 2, 2, false}, Sizes{3, 16, 16, 32, 32, 12, 12, true},
                           Sizes{2, 5, 7, 17, 19, 8, 6, true}, Sizes{1, 3, 2, 5, 4, 8, 8, true},
                           Sizes{5, 4, 33, 16, 37, 6, 34, false}, Sizes{17, 9, 6, 8, 7, 12, 12, true},
                           Sizes{2, 35, 3, 1, 33, 4, 8, true}, Sizes{2, 3, 4, 34, 1, 34, 2, true},
                           Sizes{1, 64, 64, 40, 48, 32, 32, true}, Sizes{3, 11, 13, 9, 64, 4, 30, true},
                           Sizes{2, 10, 23, 7, 34, 6, 14, true}, Sizes{1, 6, 6, 16, 160, 12, 12, true},
                           Sizes{1, 6, 5, 160, 16, 12, 12, true}, Sizes{2, 8, 8, 96, 31, 32, 12, true},
                           Sizes{1, 7, 8, 23, 97, 8, 32, false}, Sizes{1, 4, 4, 41, 43, 12, 20, true},
                           Sizes{1, 3, 5, 18, 255, 6, 64, true}, Sizes{1, 5, 3, 257, 18, 64, 6, true},
                           Sizes{1, 2, 2, 1024, 17, 16, 8, true}, Sizes{1, 2, 2, 17, 1023, 8, 16, true},
                           Sizes{1, 16, 16, 48, 36, 12, 12, true}, Sizes{3, 16, 16, 32, 32, 12, 12, true, true},
                           Sizes{2, 5, 7, 17, 19, 8, 6, true, true}, Sizes{2, 8, 8, 48, 96, 12, 12, true, true},
                           Sizes{1, 3, 4, 1, 33, 4, 8, true, true}, Sizes{2, 3, 4, 34, 1, 34, 2, false, true},
                           Sizes{1, 64, 64, 40, 48, 32, 32, true, true}, Sizes{3, 11, 13, 9, 64, 4, 30, true, true},
                           Sizes{2, 10, 23, 7, 34, 6, 14, true, true}, Sizes{1, 5, 3, 130, 18, 64, 6, true, true},
                           Sizes{1, 2, 3, 17, 255, 8, 16, true, true})),
    [](const auto& test) { return testing::level_name(std::get<0>(test.param)) + std::to_string(test.index); });

const Sizes kSome{4, 6, 5, 18, 21, 8, 8, true};

TEST(SpectralLayerOp, FrozenWeightsChangeNothingForTheInput) {
  const auto p = problem(kSome);
  const SpectralPlan plan(basis_of(kSome, torch::kFloat32));
  const auto x = p.inputs[0].clone().requires_grad_();
  const auto y = spectral_layer(x, {p.inputs[1], p.inputs[2], p.inputs[3]}, plan, true);
  y.backward(p.gradient);
  const auto full = run_fused(p);
  EXPECT_TRUE(y.equal(full[0]));
  EXPECT_TRUE(x.grad().equal(full[1]));
}

TEST(SpectralLayerOp, WithoutGradientsGivesTheSame) {
  const auto p = problem(kSome);
  const SpectralPlan plan(basis_of(kSome, torch::kFloat32));
  const auto y = spectral_layer(p.inputs[0], {p.inputs[1], p.inputs[2], p.inputs[3]}, plan, true);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(y.equal(run_fused(p)[0]));
}

TEST(SpectralLayerOp, ThreadsChangeNoBitOfFields) {
  const auto p = problem(kSome);
  const int before = torch::get_num_threads();
  torch::set_num_threads(1);
  const auto one = run_fused(p);
  torch::set_num_threads(3);
  const auto three = run_fused(p);
  torch::set_num_threads(before);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(one[i].equal(three[i])) << i;
}

TEST(SpectralLayerOp, SamplesDoNotSeeEachOther) {
  const auto p = problem(kSome);
  const SpectralPlan plan(basis_of(kSome, torch::kFloat32));
  const LayerWeights w{p.inputs[1], p.inputs[2], p.inputs[3]};
  const auto together = spectral_layer(p.inputs[0], w, plan, true);
  for (int64_t i = 0; i < kSome.batch; ++i)
    EXPECT_TRUE(spectral_layer(p.inputs[0].narrow(0, i, 1), w, plan, true).equal(together.narrow(0, i, 1)));
}

TEST(SpectralLayerOp, PlanesGoThroughInGroupsOfAnyLength) {
  // Up to 8 planes take a step together; a group ends with the sample or with the thread's share.
  for (const int64_t channels : {1, 7, 8, 9, 17}) {
    const auto p = problem({3, channels, channels, 10, 12, 4, 6, true});
    const auto exact = run_formula(p), fused = run_fused(p);
    for (size_t i = 0; i < exact.size(); ++i)
      EXPECT_LT(relative_error(fused[i], exact[i]), 3e-6) << channels << " " << i;
  }
}

TEST(SpectralLayerOp, ManySamplesGoThroughInParts) {
  // More than the half-way buffer holds at once: 8 MiB over 2 x 16 channels x 34 rows x 32 columns or more.
  const Sizes s{70, 4, 16, 40, 64, 32, 8, true};
  const auto p = problem(s);
  const auto exact = run_formula(p), fused = run_fused(p);
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_LT(relative_error(fused[i], exact[i]), 3e-6) << i;
}

TEST(SpectralLayerOp, FewSamplesMixAlongChannelsToTheSame) {
  for (const int64_t batch : {1, 2, 4, 5, 8}) {
    const auto p = problem({batch, 32, 19, 12, 14, 6, 6, true});
    const auto exact = run_formula(p), fused = run_fused(p);
    for (size_t i = 0; i < exact.size(); ++i) EXPECT_LT(relative_error(fused[i], exact[i]), 3e-6) << batch << " " << i;
  }
}

TEST(SpectralLayerOp, TakesAnEmptyBatch) {
  const auto result = run_fused(problem({0, 6, 5, 18, 21, 8, 8, true}));
  EXPECT_EQ(result[0].sizes(), (std::vector<int64_t>{0, 5, 18, 21}));
  EXPECT_EQ(result[3].abs().sum().item<double>(), 0);
}

TEST(SpectralLayerOp, SecondDerivativesAreRefused) {
  const auto p = problem(kSome);
  const SpectralPlan plan(basis_of(kSome, torch::kFloat32));
  const auto x = p.inputs[0].clone().requires_grad_();
  const auto y = spectral_layer(x, {p.inputs[1], p.inputs[2], p.inputs[3]}, plan, true);
  EXPECT_ERROR(torch::autograd::grad({y.sum()}, {x}, {}, c10::nullopt, true), ExitCode::usage,
               "[spectral_layer] the fused form has first derivatives only");
}

TEST(SpectralLayerOp, WrongShapesAreRefused) {
  const auto p = problem(kSome);
  const SpectralPlan plan(basis_of(kSome, torch::kFloat32));
  EXPECT_ERROR(spectral_layer(torch::zeros({1, 6, 18, 20}), {p.inputs[1], p.inputs[2], p.inputs[3]}, plan, true),
               ExitCode::data, "[spectral_layer] x (1,6,18,20)");
}

}  // namespace
}  // namespace piddm
