#include "piddm/ops/pointwise_mlp.h"

#include "tests/ops/levels.h"

namespace piddm {
namespace {

using cpu::SimdLevel;
using testing::ForcedLevel;
using testing::relative_error;

struct Sizes {
  int64_t batch, in, fixed, hidden, out, points;
  bool bias_per_sample;
};

/// Inputs in the order x, w1, bias1, w2, bias2; coordinates apart.
struct Problem {
  std::vector<Tensor> inputs;
  Tensor coordinates, gradient;
};

Problem problem(const Sizes& s) {
  torch::manual_seed(7);
  return {{torch::randn({s.batch, s.in, s.points}), torch::randn({s.hidden, s.in + s.fixed}),
           torch::randn({s.bias_per_sample ? s.batch : 1, s.hidden}), torch::randn({s.out, s.hidden}),
           torch::randn({s.out})},
          torch::rand({s.fixed, s.points}),
          torch::randn({s.batch, s.out, s.points})};
}

/// Output, then the gradients of all inputs.
template <class F>
std::vector<Tensor> run(const F& f, const Problem& p, torch::ScalarType dtype) {
  std::vector<Tensor> in;
  for (const auto& x : p.inputs) in.push_back(x.to(dtype).clone().requires_grad_());
  const auto y = f(in[0], p.coordinates.to(dtype), MlpWeights{in[1], in[2], in[3], in[4]});
  y.backward(p.gradient.to(dtype));
  std::vector<Tensor> all{y.detach()};
  for (const auto& x : in) all.push_back(x.grad());
  return all;
}

class PointwiseMlp : public ::testing::TestWithParam<std::tuple<SimdLevel, Sizes>> {
 protected:
  const ForcedLevel forced{std::get<0>(GetParam())};
  const Problem p = problem(std::get<1>(GetParam()));
};

TEST_P(PointwiseMlp, MatchesItsFormulaInDouble) {
  const auto exact = run(pointwise_mlp_formula, p, torch::kFloat64), fused = run(pointwise_mlp, p, torch::kFloat32);
  const std::vector<std::string> names{"y", "x", "w1", "bias1", "w2", "bias2"};
  for (size_t i = 0; i < exact.size(); ++i) {
    ASSERT_EQ(fused[i].sizes(), exact[i].sizes()) << names[i];
    EXPECT_LT(relative_error(fused[i], exact[i]), 2e-6) << names[i];
  }
}

TEST_P(PointwiseMlp, WritesAllOfItsOutput) {
  const auto clean = run(pointwise_mlp, p, torch::kFloat32);
  const testing::PoisonedMemory poisoned;
  const auto again = run(pointwise_mlp, p, torch::kFloat32);
  for (size_t i = 0; i < clean.size(); ++i) EXPECT_TRUE(again[i].equal(clean[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, PointwiseMlp,
    ::testing::Combine(::testing::ValuesIn(cpu::supported_levels()),
                       ::testing::Values(Sizes{1, 1, 0, 1, 1, 1, false}, Sizes{3, 2, 2, 48, 16, 64, true},
                                         Sizes{2, 4, 2, 37, 5, 131, true}, Sizes{5, 67, 0, 33, 2, 17, false},
                                         Sizes{1, 64, 0, 256, 2, 300, false}, Sizes{7, 3, 1, 31, 65, 97, true},
                                         Sizes{2, 9, 1, 13, 11, 33, true}, Sizes{1, 10, 0, 7, 15, 16, false})),
    [](const auto& test) { return testing::level_name(std::get<0>(test.param)) + std::to_string(test.index); });

TEST(PointwiseMlpOp, FrozenWeightsChangeNothingForTheInput) {
  const auto p = problem({3, 5, 2, 40, 6, 70, true});
  const auto full = run(pointwise_mlp, p, torch::kFloat32);
  const auto x = p.inputs[0].clone().requires_grad_();
  pointwise_mlp(x, p.coordinates, {p.inputs[1], p.inputs[2], p.inputs[3], p.inputs[4]}).backward(p.gradient);
  EXPECT_TRUE(x.grad().equal(full[1]));
}

TEST(PointwiseMlpOp, ThreadsChangeNoBit) {
  const auto p = problem({5, 5, 2, 40, 6, 200, true});
  const int before = torch::get_num_threads();
  torch::set_num_threads(1);
  const auto one = run(pointwise_mlp, p, torch::kFloat32);
  torch::set_num_threads(3);
  const auto three = run(pointwise_mlp, p, torch::kFloat32);
  torch::set_num_threads(before);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(one[i].equal(three[i])) << i;
  for (size_t i = 2; i < one.size(); ++i) EXPECT_LT(relative_error(three[i], one[i]), 1e-6) << i;
}

TEST(PointwiseMlpOp, SamplesDoNotSeeEachOther) {
  const auto p = problem({4, 3, 2, 40, 6, 50, true});
  const auto call = [&](const Tensor& x, const Tensor& bias) {
    return pointwise_mlp(x, p.coordinates, {p.inputs[1], bias, p.inputs[3], p.inputs[4]});
  };
  const auto together = call(p.inputs[0], p.inputs[2]);
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_TRUE(call(p.inputs[0].narrow(0, i, 1), p.inputs[2].narrow(0, i, 1)).equal(together.narrow(0, i, 1)));
}

TEST(PointwiseMlpOp, StridedTensorsAreTaken) {
  const auto p = problem({2, 3, 2, 8, 4, 20, true});
  const MlpWeights w{p.inputs[1].t().contiguous().t(), p.inputs[2], p.inputs[3], p.inputs[4]};
  const auto x = p.inputs[0].transpose(1, 2).contiguous().transpose(1, 2);
  EXPECT_TRUE(
      pointwise_mlp(x, p.coordinates, w)
          .equal(pointwise_mlp(p.inputs[0], p.coordinates, {p.inputs[1], p.inputs[2], p.inputs[3], p.inputs[4]})));
}

TEST(PointwiseMlpOp, SecondDerivativesAreRefused) {
  const auto p = problem({1, 2, 0, 8, 3, 20, false});
  const auto x = p.inputs[0].clone().requires_grad_();
  const auto y = pointwise_mlp(x, p.coordinates, {p.inputs[1], p.inputs[2], p.inputs[3], p.inputs[4]});
  EXPECT_ERROR(torch::autograd::grad({y.sum()}, {x}, {}, c10::nullopt, true), ExitCode::usage,
               "[pointwise_mlp] the fused form has first derivatives only");
}

TEST(PointwiseMlpOp, WrongShapesAreRefused) {
  const auto p = problem({1, 2, 0, 8, 3, 20, false});
  EXPECT_ERROR(pointwise_mlp(p.inputs[0], torch::rand({1, 20}), {p.inputs[1], p.inputs[2], p.inputs[3], p.inputs[4]}),
               ExitCode::data, "[pointwise_mlp] x (1,2,20), coordinates (1,20), w1 (8,2)");
}

}  // namespace
}  // namespace piddm
