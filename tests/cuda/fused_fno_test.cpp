#include "piddm/ops/fused_fno.h"

#include <gtest/gtest.h>

#include "piddm/core/cuda.h"
#include "piddm/model/fno.h"
#include "tests/cuda/gpu.h"

namespace piddm {
namespace {

struct Size {
  int64_t batch, channels, height, width, modes1, modes2, layers, hidden_in, hidden_out, channels_in, skip = 1;
};

std::ostream& operator<<(std::ostream& out, const Size& s) {
  return out << s.batch << " x " << s.height << "x" << s.width << " modes " << s.modes1 << "x" << s.modes2 << " width "
             << s.channels << " layers " << s.layers << " hidden " << s.hidden_in << " " << s.hidden_out << " fields "
             << s.channels_in << " skip " << s.skip;
}

FnoOptions options_of(const Size& s, SpectralForm form) {
  FnoOptions o;
  o.channels = s.channels_in;
  o.modes = {s.modes1, s.modes2};
  o.width = s.channels;
  o.layers = s.layers;
  o.lifting = s.hidden_in;
  o.projection = s.hidden_out;
  o.skip = s.skip;
  o.spectral = form;
  return o;
}

/// Biases are zero in a fresh network, which would hide wrong ones.
void shake(Network& network) {
  torch::NoGradGuard no_grad;
  for (auto& p : network.parameters())
    if (p.dim() == 1) p.normal_(0, 0.3);
}

std::shared_ptr<Fno> copy_of(Fno& network, const FnoOptions& options, torch::Device device, torch::ScalarType type) {
  auto copy = std::make_shared<Fno>(options, 0);
  copy->to(type);
  torch::NoGradGuard no_grad;
  const auto from = network.parameters(), to = copy->parameters();
  for (size_t i = 0; i < from.size(); ++i) to[i].data().copy_(from[i]);
  copy->to(device);
  return copy;
}

/// NaN into the memory that the next tensors will get: what a kernel does not write shows.
void poison() {
  std::vector<Tensor> blocks;
  for (const int64_t megabytes : {1, 1, 1, 1, 8, 8, 8, 64, 64, 256})
    blocks.push_back(torch::full({megabytes << 18}, std::nan(""), torch::device(torch::kCUDA)));
  for (int i = 0; i < 64; ++i) blocks.push_back(torch::full({20000}, std::nan(""), torch::device(torch::kCUDA)));
}

struct Result {
  Tensor y, dx;
  std::vector<Tensor> parameters;
};

Result run(Network& network, const Tensor& x, const Tensor& t, const Tensor& target) {
  for (auto& p : network.parameters()) p.mutable_grad() = Tensor();
  auto input = x.clone().requires_grad_(true);
  const auto y = network(input, t);
  (y * target).sum().backward();
  Result result{y.detach(), input.grad(), {}};
  for (auto& p : network.parameters()) result.parameters.push_back(p.grad());
  return result;
}

double error_of(const Tensor& got, const Tensor& want) {
  const auto a = got.to(torch::kCPU).to(torch::kFloat64), b = want.to(torch::kCPU).to(torch::kFloat64);
  return ((a - b).norm() / b.norm()).item<double>();
}

/// Of values, of gradients.
std::pair<double, double> tolerance(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return {1e-5, 4e-5};
    case Precision::tf32:
      return {3e-3, 6e-3};
    default:
      return {2e-2, 4e-2};
  }
}

/// Without gradients of the weights the share of the times is summed in another order.
constexpr double kTimeRounding = 2e-6;

class FusedFno : public ::testing::TestWithParam<Size> {
 protected:
  void SetUp() override {
    NEEDS_GPU();
    torch::manual_seed(1);
    const auto s = GetParam();
    Fno seed(options_of(s, SpectralForm::gemm), 3);
    shake(seed);
    formula_ = copy_of(seed, options_of(s, SpectralForm::gemm), torch::kCPU, torch::kFloat64);
    fused_ = copy_of(seed, options_of(s, SpectralForm::fused), torch::kCUDA, torch::kFloat32);
    x_ = torch::randn({s.batch, s.channels_in, s.height, s.width});
    t_ = torch::rand({s.batch});
    target_ = torch::randn({s.batch, s.channels_in, s.height, s.width});
  }

  Result formula() {
    return run(*formula_, x_.to(torch::kFloat64), t_.to(torch::kFloat64), target_.to(torch::kFloat64));
  }
  Result fused() {
    poison();
    return run(*fused_, x_.to(torch::kCUDA), t_.to(torch::kCUDA), target_.to(torch::kCUDA));
  }

  std::shared_ptr<Fno> formula_, fused_;
  Tensor x_, t_, target_;
};

TEST_P(FusedFno, ValuesAndEveryGradientAreThoseOfTheFormula) {
  const auto want = formula();
  const auto names = fused_->named_parameters().keys();
  for (const auto precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
    SCOPED_TRACE(enum_names(precision)[static_cast<size_t>(precision)]);
    fused_->set_precision(precision);
    const auto got = fused();
    const auto [of_values, of_gradients] = tolerance(precision);
    EXPECT_LT(error_of(got.y, want.y), of_values);
    EXPECT_LT(error_of(got.dx, want.dx), of_gradients);
    for (size_t i = 0; i < names.size(); ++i)
      EXPECT_LT(error_of(got.parameters[i], want.parameters[i]), of_gradients) << names[i];
  }
}

TEST_P(FusedFno, NoGradFrozenWeightsAndRecomputingGiveTheSame) {
  const auto x = x_.to(torch::kCUDA), t = t_.to(torch::kCUDA), target = target_.to(torch::kCUDA);
  const auto want = fused();
  {
    torch::NoGradGuard no_grad;
    poison();
    EXPECT_LT(error_of((*fused_)(x, t), want.y), kTimeRounding);
  }
  auto options = options_of(GetParam(), SpectralForm::fused);
  options.recompute = true;
  const auto recomputing = copy_of(*fused_, options, torch::kCUDA, torch::kFloat32);
  poison();
  const auto got = run(*recomputing, x, t, target);
  if (GetParam().skip == 1) {
    EXPECT_TRUE(torch::equal(got.dx, want.dx));
  }
  EXPECT_LT(error_of(got.dx, want.dx), 1e-6);  // convolutions may be summed in another order
  for (size_t i = 0; i < got.parameters.size(); ++i) EXPECT_LT(error_of(got.parameters[i], want.parameters[i]), 1e-6);
  for (auto& p : fused_->parameters()) p.requires_grad_(false);
  poison();
  auto input = x.clone().requires_grad_(true);
  ((*fused_)(input, t) * target).sum().backward();
  EXPECT_LT(error_of(input.grad(), want.dx), kTimeRounding);
}

// Odd, prime, above and below the tiles of 16 points, 8 channels and 8 frequencies; one sample, and batches that are
// multiples of nothing.
INSTANTIATE_TEST_SUITE_P(
    Sizes, FusedFno,
    ::testing::Values(Size{2, 64, 32, 32, 12, 12, 2, 64, 64, 2}, Size{1, 16, 17, 23, 8, 8, 1, 48, 32, 1},
                      Size{3, 32, 31, 64, 12, 16, 4, 48, 48, 2}, Size{5, 24, 20, 13, 6, 20, 3, 32, 80, 3},
                      Size{33, 8, 9, 11, 32, 32, 2, 16, 16, 2}, Size{2, 128, 19, 40, 8, 8, 2, 32, 144, 8},
                      Size{17, 64, 16, 130, 10, 34, 3, 256, 256, 2}, Size{1, 64, 128, 128, 32, 32, 4, 256, 256, 2},
                      Size{2, 40, 7, 150, 32, 70, 2, 304, 16, 4}, Size{1, 64, 96, 160, 32, 32, 2, 64, 64, 2},
                      Size{1, 64, 160, 96, 32, 32, 2, 64, 64, 2}, Size{2, 32, 48, 36, 12, 12, 2, 48, 48, 2},
                      Size{1, 32, 16, 255, 12, 64, 2, 32, 32, 2}, Size{1, 32, 257, 18, 64, 12, 2, 32, 32, 2},
                      Size{3, 16, 23, 97, 8, 32, 2, 32, 16, 2}, Size{1, 64, 41, 43, 12, 20, 3, 64, 32, 3},
                      Size{1, 32, 17, 512, 8, 32, 2, 32, 32, 2}, Size{1, 32, 1024, 16, 32, 8, 2, 32, 32, 2},
                      Size{1, 32, 16, 1024, 8, 32, 2, 32, 32, 2}, Size{1, 64, 18, 1023, 8, 32, 2, 32, 32, 2},
                      Size{2, 64, 32, 32, 12, 12, 2, 64, 64, 2, 3}, Size{1, 16, 17, 23, 8, 8, 1, 48, 32, 1, 3},
                      Size{3, 32, 48, 96, 12, 16, 4, 48, 48, 2, 3}, Size{5, 24, 20, 13, 6, 20, 3, 32, 80, 3, 3},
                      Size{1, 64, 128, 128, 32, 32, 4, 256, 256, 2, 3}, Size{2, 128, 19, 40, 8, 8, 2, 32, 144, 8, 3}),
    [](const auto& c) { return "Case" + std::to_string(c.index); });

TEST(FusedFnoFallback, SizesItDoesNotTakeRunAsTheFormula) {
  NEEDS_GPU();
  const Size s{2, 20, 16, 16, 8, 8, 2, 32, 32, 2};
  Fno seed(options_of(s, SpectralForm::gemm), 3);
  const auto on_gpu = copy_of(seed, options_of(s, SpectralForm::fused), torch::kCUDA, torch::kFloat32);
  const auto x = torch::randn({2, 2, 16, 16}), t = torch::rand({2});
  EXPECT_LT(error_of((*on_gpu)(x.to(torch::kCUDA), t.to(torch::kCUDA)), seed(x, t)), 1e-4);
}

}  // namespace
}  // namespace piddm
