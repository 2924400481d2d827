#include "piddm/solve/smooth_solution.h"

#include <cmath>

#include "piddm/model/student.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::relative_error;

/// u = p(x) q(y) in the first channel, something else in the others.
Tensor with_solution(const Pde& pde, const Tensor& p, const Tensor& q) {
  auto x = torch::full(pde.sample_shape(), 3, torch::kFloat64).unsqueeze(0);
  x.select(1, 0) = p.unsqueeze(1) * q;
  return x;
}

/// Coordinates of n points in units of the domain, and what wave k of this axis is on them.
using Wave = std::function<Tensor(int64_t k, int64_t n)>;

void expect_cut(const PdeOptions& options, const Wave& along_h, const Wave& along_w, double half_waves) {
  const auto pde = make_pde(options);
  const int64_t h = pde->grid().height(), w = pde->grid().width();
  const auto low = with_solution(*pde, along_h(2, h), along_w(1, w)),
             high = with_solution(*pde, along_h(5, h), along_w(6, w));
  auto both = low.clone();
  both.select(1, 0) += high.select(1, 0);
  const auto cut = smooth_solution(both.to(torch::kFloat32), *pde, {FilterForm::sharp, half_waves});
  EXPECT_EQ(cut.scalar_type(), torch::kFloat64);
  EXPECT_LT(relative_error(cut.select(1, 0), low.select(1, 0)), 1e-6) << pde->name();
  EXPECT_TRUE(torch::equal(cut.narrow(1, 1, 1), both.narrow(1, 1, 1))) << "coefficients are not touched";
  const auto kept = smooth_solution(both, *pde, {FilterForm::sharp, 1000});
  EXPECT_LT(relative_error(kept, both), 1e-12) << pde->name();
}

Tensor cells(int64_t n) { return (torch::arange(n, torch::kFloat64) + 0.5) / static_cast<double>(n); }
Tensor nodes(int64_t n) { return torch::arange(n, torch::kFloat64) / static_cast<double>(n - 1); }

TEST(SmoothSolution, CutsSineCosineAndFourierModes) {
  const Wave cell_sine = [](int64_t k, int64_t n) { return (M_PI * static_cast<double>(k) * cells(n)).sin(); };
  const Wave node_sine = [](int64_t k, int64_t n) { return (M_PI * static_cast<double>(k) * nodes(n)).sin(); };
  const Wave cosine = [](int64_t k, int64_t n) { return (M_PI * static_cast<double>(k) * cells(n)).cos(); };
  const Wave fourier = [](int64_t k, int64_t n) {  // k full waves, 2k half waves
    return (2 * M_PI * static_cast<double>(k) / static_cast<double>(n) * torch::arange(n, torch::kFloat64) + 0.3).cos();
  };
  expect_cut({"darcy", {16, 24}}, cell_sine, cell_sine, 4);
  expect_cut({"poisson", {20, 16}}, node_sine, node_sine, 4);
  expect_cut({"burgers", {16, 20}}, fourier, cosine, 6);
}

TEST(SmoothSolution, HasTheFilterOfTheSmoothHead) {
  auto model = testing::tiny_student();
  model.heads = {};
  const auto e = normal(3, Stream::latents, 0, 2, model.pde->sample_shape(), torch::kFloat64).to(torch::kFloat32);
  const auto plain = model.normalizer.to_physical(Student(model)(e));
  const HeadOptions smooth{.smooth = true, .smooth_modes = 5};
  const auto shaped = model.normalizer.to_physical(Student(model, smooth)(e));
  EXPECT_LT(relative_error(smooth_solution(plain, *model.pde, {FilterForm::smooth, 5}), shaped.to(torch::kFloat64)),
            1e-5);
}

TEST(SmoothSolution, CostsTime) {
  const auto pde = make_pde({"darcy", 16});
  Samples samples{.x = pde->sample(1, 0, 2), .nfe = 7, .seconds_per_sample = 0};
  const auto before = samples.x;
  smooth_samples(samples, *pde, {FilterForm::sharp, 2});
  EXPECT_GT(samples.seconds_per_sample, 0);
  EXPECT_EQ(samples.nfe, 7);
  EXPECT_GT(relative_error(pde->solution(samples.x), pde->solution(before)), 1e-3);
}

}  // namespace
}  // namespace piddm
