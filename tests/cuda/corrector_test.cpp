#include "piddm/pde/pde.h"
#include "tests/cuda/gpu.h"

namespace piddm {
namespace {

/// A sample whose u is nobody's, and the gradient of the sum of its corrected squares.
std::pair<Tensor, Tensor> corrected(const Pde& pde, const Tensor& x) {
  const Tensor leaf = x.detach().clone().requires_grad_();
  const Tensor y = pde.correct(leaf, 3);
  return {y.detach().cpu(), torch::autograd::grad({y.square().sum()}, {leaf})[0].cpu()};
}

TEST(CorrectorOnAGpu, AgreesWithTheKernelOfTheCpu) {
  NEEDS_GPU();
  for (const char* name : {"darcy", "poisson", "helmholtz"}) {
    const auto pde = make_pde({name, GridSize(24, 40)});
    const Tensor x = pde->sample(3, 0, 3) + 0.01 * torch::randn({3, 2, 24, 40}, torch::kFloat64);
    const auto [here, gradient] = corrected(*pde, x);
    const auto [there, other] = corrected(*pde, x.to(testing::kGpu));
    EXPECT_LT(testing::relative_error(there, here), 1e-10) << name;
    EXPECT_LT(testing::relative_error(other, gradient), 1e-8) << name;
  }
}

TEST(CorrectorOnAGpu, CanBeRecordedWithItsGradient) {
  NEEDS_GPU();
  const auto pde = make_pde({"darcy", 32});
  const Tensor samples = pde->sample(3, 0, 4).to(testing::kGpu, torch::kFloat32) * 0.9;
  const Tensor x = samples.narrow(0, 0, 2).clone().requires_grad_();
  Tensor y, gradient;
  cuda::Graph graph([&] {
    const Tensor corrected = pde->correct(x, 5);
    gradient = torch::autograd::grad({corrected.square().sum()}, {x})[0];
    y = corrected.detach();
  });
  {
    const torch::NoGradGuard no_grad;
    x.copy_(samples.narrow(0, 2, 2));
  }
  graph.replay();
  cuda::synchronize();
  const Tensor leaf = samples.narrow(0, 2, 2).clone().requires_grad_(), again = pde->correct(leaf, 5);
  EXPECT_LT(testing::relative_error(y.cpu(), again.detach().cpu()), 1e-6);
  EXPECT_LT(testing::relative_error(gradient.cpu(), torch::autograd::grad({again.square().sum()}, {leaf})[0].cpu()),
            1e-4);
}

}  // namespace
}  // namespace piddm
