#include "piddm/cuda/optimizer.h"

#include "piddm/core/rng.h"
#include "piddm/train/adam.h"
#include "tests/cuda/gpu.h"

namespace piddm {
namespace {

using testing::kGpu;

struct Vector : torch::nn::Module {
  explicit Vector(const Tensor& start) : weights(register_parameter("weights", start.clone())) {}
  Tensor weights;
};

Tensor gradient_of(int64_t k, int64_t n) {
  const double size = k % 3 == 0 ? 1e-2 : 5;  // clipped and not
  return size / std::sqrt(static_cast<double>(n)) * normal(4, Stream::tasks, k, 1, {n})[0];
}

Tensor loss_of(double value) { return torch::full({}, value, torch::TensorOptions(torch::kFloat32).device(kGpu)); }

void step(Vector& module, Adam& adam, int64_t k, const Tensor& gradient, double loss = 1) {
  module.weights.mutable_grad().copy_(gradient);
  adam.prepare(k, 1e-2 / static_cast<double>(k));
  adam.step_on_gpu(loss_of(loss));
}

double failed(const Adam& adam) { return adam.status()[2].item<double>(); }

TEST(CudaAdam, FollowsTheCpuOverTwentySteps) {
  NEEDS_GPU();
  for (const int64_t n : {1, 3, 4, 1023, 1024, 300001, 5000003})
    for (const double clip : {0.0, 1.0}) {
      const auto start = normal(3, Stream::parameters, 0, 1, {n})[0];
      Vector on_cpu(start), on_gpu(start.to(kGpu));
      const AdamOptions options{.clip = clip, .ema = 0.7};  // the average's two formulas: shares above and below 1/2
      Adam cpu(on_cpu, options), gpu(on_gpu, options);
      ASSERT_TRUE(gpu.fits_gpu_step());
      EXPECT_FALSE(cpu.fits_gpu_step());
      for (int64_t k = 1; k <= (n > 1000000 ? 3 : 20); ++k) {
        const auto gradient = gradient_of(k, n);
        on_cpu.weights.mutable_grad().copy_(gradient);
        const double norm = gradient.to(torch::kFloat64).norm().item<double>();
        cpu.step(k, 1e-2 / static_cast<double>(k), norm);
        step(on_gpu, gpu, k, gradient);
        EXPECT_NEAR(gpu.status()[0].item<double>(), norm, 1e-12 * norm);
      }
      EXPECT_EQ(failed(gpu), -1);
      const auto state = gpu.state();
      for (const auto& [part, tensors] : cpu.state())
        EXPECT_LT(testing::relative_error(state.at(part).at("weights"), tensors.at("weights")), 1e-6)
            << part << " n " << n << " clip " << clip;
      EXPECT_FALSE(torch::equal(on_gpu.weights.detach().cpu(), start));
    }
}

TEST(CudaAdam, TheSameInputGivesTheSameBits) {
  NEEDS_GPU();
  const auto run = [] {
    Vector module(normal(3, Stream::parameters, 0, 1, {300001})[0].to(kGpu));
    Adam adam(module, {});
    for (int64_t k = 1; k <= 3; ++k) step(module, adam, k, gradient_of(k, 300001));
    return torch::cat({module.weights.detach().cpu().to(torch::kFloat64), adam.status().cpu()});
  };
  EXPECT_TRUE(torch::equal(run(), run()));
}

struct Fault {
  const char* name;
  double loss, entry;
};

class CudaAdamFault : public ::testing::TestWithParam<Fault> {};

TEST_P(CudaAdamFault, LeavesTheLastGoodStateForGood) {
  NEEDS_GPU();
  constexpr int64_t kSize = 4099;
  Vector module(normal(3, Stream::parameters, 0, 1, {kSize})[0].to(kGpu));
  Adam adam(module, {});
  step(module, adam, 1, gradient_of(1, kSize));
  step(module, adam, 2, gradient_of(2, kSize));
  const auto before = adam.state();
  auto gradient = gradient_of(3, kSize);
  if (GetParam().entry != 0) gradient[kSize - 1] = GetParam().entry;
  step(module, adam, 3, gradient, GetParam().loss);
  EXPECT_EQ(failed(adam), 2);
  step(module, adam, 4, gradient_of(4, kSize));  // finite again: too late
  EXPECT_EQ(failed(adam), 2);
  for (const auto& [part, tensors] : adam.state())
    EXPECT_TRUE(torch::equal(tensors.at("weights"), before.at(part).at("weights"))) << part;
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaAdamFault,
                         ::testing::Values(Fault{"NanLoss", NAN, 0}, Fault{"InfiniteLoss", INFINITY, 0},
                                           Fault{"NanGradient", 1, NAN}, Fault{"InfiniteGradient", 1, -INFINITY}),
                         [](const auto& test) { return std::string(test.param.name); });

// Entries whose square float32 cannot hold are no reason to stop.
TEST(CudaAdam, TheNormOfHugeGradientsIsFinite) {
  NEEDS_GPU();
  Vector module(torch::zeros({5}).to(kGpu));
  Adam adam(module, {});
  step(module, adam, 1, torch::full({5}, 1e30));
  EXPECT_EQ(failed(adam), -1);
  EXPECT_NEAR(adam.status()[0].item<double>(), std::sqrt(5.0) * 1e30, 1e24);
  EXPECT_TRUE(all_finite(module.weights));
}

}  // namespace
}  // namespace piddm
