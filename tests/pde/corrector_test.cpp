// A few iterations of conjugate gradients inside a student: how far they get, their gradients, their kernel.

#include <ATen/Parallel.h>

#include <algorithm>

#include "piddm/numerics/diffusion_cg.h"
#include "piddm/numerics/sine_transform.h"
#include "piddm/pde/darcy.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::gradient_error;
using piddm::testing::relative_error;

/// True samples whose u keeps only this many sine modes along each axis.
Tensor blurred(const Pde& pde, int64_t count, int64_t modes) {
  Tensor x = pde.sample(3, 0, count);
  Tensor kept = sine_transform(x.narrow(1, 0, 1));
  kept.narrow(2, modes, kept.size(2) - modes).zero_();
  kept.narrow(3, modes, kept.size(3) - modes).zero_();
  x.narrow(1, 0, 1).copy_(inverse_sine_transform(kept));
  return x;
}

/// RMS of 1 - A u, of each sample.
Tensor residual_of(const Pde& pde, const Tensor& x) {
  return pde.residual(x).fields.front().interior.square().mean({1, 2, 3}).sqrt();
}

/// <e, A e> of e = u - u*(a), of each sample.
Tensor energy_of_error(const Pde& pde, const Tensor& x) {
  const Tensor e = x.narrow(1, 0, 1) - pde.decode(x).x.narrow(1, 0, 1);
  return (e * DarcyOperator(x.narrow(1, 1, 1)).apply(e)).sum({1, 2, 3});
}

/// A coefficient, a right-hand side and a solution that have nothing to do with each other.
struct Fields {
  explicit Fields(GridSize grid, int64_t count = 2)
      : a(torch::rand({count, 1, grid.height(), grid.width()}, torch::kFloat64) * 9 + 3),
        f(torch::randn_like(a)),
        u(torch::randn_like(a)) {}
  Tensor a, f, u;
};

TEST(Corrector, EveryIterationLowersTheErrorInTheEnergyNorm) {
  const auto pde = make_pde({"darcy", 32});
  const Tensor x = blurred(*pde, 8, 8);
  Tensor before = energy_of_error(*pde, x);
  for (int64_t k = 1; k <= 12; ++k) {
    const Tensor after = energy_of_error(*pde, pde->correct(x, k));
    EXPECT_LT((after / before).max().item<double>(), 0.6) << k;
    before = after;
  }
}

TEST(Corrector, AFewIterationsReachWhatTheyAreFor) {
  for (const auto& [grid, modes] : {std::pair{32, 8}, {64, 16}}) {
    const auto pde = make_pde({"darcy", grid});
    const Tensor x = blurred(*pde, 8, modes);
    const double none = residual_of(*pde, x).mean().item<double>();
    EXPECT_GT(none, 1) << grid;
    EXPECT_LT(residual_of(*pde, pde->correct(x, 2)).mean().item<double>(), none / 4) << grid;
    EXPECT_LT(residual_of(*pde, pde->correct(x, 5)).mean().item<double>(), none / 60) << grid;
    EXPECT_LT(residual_of(*pde, pde->correct(x, 10)).mean().item<double>(), none / 5000) << grid;
  }
}

TEST(Corrector, EnoughIterationsAreTheDecode) {
  for (const auto& grid : {GridSize(32), GridSize(48, 96)}) {
    const auto pde = make_pde({"darcy", grid, {{"length_y", 2.0}}});
    const Tensor x = blurred(*pde, 2, 6);
    const Tensor corrected = pde->correct(x, 45);
    EXPECT_LT(relative_error(corrected, pde->decode(x).x), 1e-11) << grid.text();
    EXPECT_TRUE(corrected.narrow(1, 1, 1).equal(x.narrow(1, 1, 1))) << grid.text();
    const Tensor composed =
        DarcyOperator(x.narrow(1, 1, 1), {1, 2}).correct(torch::ones_like(x.narrow(1, 1, 1)), x.narrow(1, 0, 1), 5);
    EXPECT_LT(relative_error(pde->correct(x, 5).narrow(1, 0, 1), composed), 1e-10) << grid.text();
  }
}

TEST(Corrector, InFloat32ItEndsAtRounding) {
  const auto pde = make_pde({"darcy", 32});
  const Tensor x = blurred(*pde, 4, 8);
  for (const int64_t k : {2, 5})
    EXPECT_LT(relative_error(pde->correct(x.to(torch::kFloat32), k), pde->correct(x, k)), 1e-5) << k;
  const Tensor far = pde->correct(x.to(torch::kFloat32), 100);
  EXPECT_EQ(far.scalar_type(), torch::kFloat32);
  EXPECT_LT(relative_error(far, pde->decode(x).x), 1e-5);
}

TEST(Corrector, TheKernelAgreesWithTheComposedFormAndItsGradients) {
  for (const auto& grid : {GridSize(4, 4), GridSize(17, 23), GridSize(16, 32), GridSize(33, 8)}) {
    for (const int64_t k : {1, 2, 5}) {
      const Fields x(grid, 3);
      const Tensor weights = torch::randn_like(x.u);
      const auto run = [&](bool kernel) {
        std::vector<Tensor> leaves{x.a.detach().clone(), x.f.detach().clone(), x.u.detach().clone()};
        for (auto& leaf : leaves) leaf.requires_grad_();
        const Tensor y = kernel ? correct_diffusion(leaves[0], leaves[1], leaves[2], k, {1, 3})
                                : DarcyOperator(leaves[0], {1, 3}).correct(leaves[1], leaves[2], k);
        auto out = torch::autograd::grad({(y.pow(2) * weights).sum()}, leaves);
        out.push_back(y.detach());
        return out;
      };
      const auto kernel = run(true), composed = run(false);
      for (size_t i = 0; i < kernel.size(); ++i)
        EXPECT_LT(relative_error(kernel[i], composed[i]), 1e-9) << grid.text() << " " << k << " " << i;
    }
  }
}

TEST(Corrector, GradientsMatchDifferences) {
  const Fields x(GridSize(9, 12));
  for (const int64_t k : {1, 2, 5}) {
    const auto loss = [](const Tensor& y) { return y.pow(3).sum(); };
    EXPECT_LT(gradient_error([&](const Tensor& v) { return loss(correct_diffusion(x.a, x.f, v, k)); }, x.u), 1e-6) << k;
    EXPECT_LT(gradient_error([&](const Tensor& v) { return loss(correct_diffusion(v, x.f, x.u, k)); }, x.a), 1e-6) << k;
    EXPECT_LT(gradient_error([&](const Tensor& v) { return loss(correct_diffusion(x.a, v, x.u, k)); }, x.f), 1e-6) << k;
    const auto pde = make_pde({"darcy", 16});
    const auto of_sample = [&](const Tensor& v) { return loss(pde->correct(v, k)); };
    EXPECT_LT(gradient_error(of_sample, blurred(*pde, 2, 4)), 1e-6) << k;
  }
}

TEST(Corrector, NothingToCorrectStaysWhereItIs) {
  Fields x(16);
  x.u.zero_();
  x.f.zero_();
  for (const bool kernel : {true, false}) {
    const Tensor u = x.u.clone().requires_grad_(), a = x.a.clone().requires_grad_();
    const Tensor y = kernel ? correct_diffusion(a, x.f, u, 3) : DarcyOperator(a).correct(x.f, u, 3);
    EXPECT_EQ(y.abs().max().item<double>(), 0);
    for (const auto& g : torch::autograd::grad({y.sum()}, {u, a})) EXPECT_TRUE(all_finite(g)) << kernel;
  }
}

TEST(Corrector, LongAfterConvergenceValuesAndGradientsAreFinite) {
  const auto pde = make_pde({"darcy", 16});
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const Tensor x = pde->sample(3, 0, 2).to(dtype).requires_grad_();
    const Tensor y = pde->correct(x, 100);
    EXPECT_TRUE(all_finite(y.detach()));
    EXPECT_TRUE(all_finite(torch::autograd::grad({y.sum()}, {x})[0]));
  }
}

TEST(Corrector, CoefficientsBelowTheFloorCountAsTheFloor) {
  const auto pde = make_pde({"darcy", 16});
  Tensor x = blurred(*pde, 1, 4);
  x[0][1][3][4] = -2;
  const Tensor y = pde->correct(x, 100);
  EXPECT_EQ(y[0][1][3][4].item<double>(), -2);
  EXPECT_LT(relative_error(y[0][0], pde->decode(x).x[0][0]), 1e-4);
}

TEST(Corrector, TheSameBitsForAnyBatchAndNumberOfThreads) {
  const auto pde = make_pde({"darcy", 32});
  const Tensor x = blurred(*pde, 5, 8).to(torch::kFloat32);
  const auto both = [&](const Tensor& part) {
    const Tensor leaf = part.detach().clone().requires_grad_();
    const Tensor y = pde->correct(leaf, 5);
    return torch::stack({y.detach(), torch::autograd::grad({y.pow(2).sum()}, {leaf})[0]}, 1);
  };
  const Tensor whole = both(x);
  EXPECT_TRUE(whole.equal(torch::cat({both(x.narrow(0, 0, 2)), both(x.narrow(0, 2, 3))})));
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  EXPECT_TRUE(whole.equal(both(x)));
  at::set_num_threads(threads);
}

TEST(Corrector, SecondDerivativesOfTheKernelAreRefused) {
  const Fields x(16);
  const Tensor u = x.u.clone().requires_grad_();
  const Tensor y = correct_diffusion(x.a, x.f, u, 2).pow(2).sum();
  EXPECT_ERROR(torch::autograd::grad({y}, {u}, {}, c10::nullopt, true), ExitCode::usage, "first derivatives only");
}

TEST(Corrector, WhatDoesNotFitIsRefused) {
  const Fields x(16);
  EXPECT_ERROR(correct_diffusion(x.a, x.f, x.u.narrow(0, 0, 1), 1), ExitCode::data, "do not fit");
  EXPECT_ERROR(correct_diffusion(x.a.to(torch::kFloat32), x.f, x.u, 1), ExitCode::data, "of one type");
  EXPECT_TRUE(correct_diffusion(x.a, x.f, x.u, 0).equal(x.u));
}

TEST(Corrector, OfADirectSolverIsTheSolution) {
  for (const char* name : {"poisson", "helmholtz"}) {
    const auto pde = make_pde({name, GridSize(24, 40)});
    Tensor x = pde->sample(3, 0, 2);
    x.narrow(1, 0, 1).normal_();
    const Tensor y = pde->correct(x, 1);
    EXPECT_LT(relative_error(y, pde->decode(x).x), 1e-12) << name;
    EXPECT_LT(relative_error(pde->correct(x.to(torch::kFloat32), 5), y), 1e-5) << name;
    EXPECT_LT(gradient_error([&](const Tensor& v) { return pde->correct(v, 2).pow(3).sum(); }, x), 1e-6) << name;
  }
}

TEST(Corrector, OnlyPdesWithAFastSolverHaveOne) {
  for (const auto& name : pde_registry().names()) {
    const auto pde = make_pde({name, 16});
    EXPECT_EQ(pde->has_corrector(), pde->has_preconditioner()) << name;
    if (!pde->has_corrector())
      EXPECT_ERROR(pde->correct(torch::zeros({1, pde->num_channels(), 16, 16}), 1), ExitCode::usage, "no corrector");
  }
}

}  // namespace
}  // namespace piddm
