#include "piddm/numerics/random_fields/gaussian_conditioning.h"

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kLatent = 20, kValues = 24;

/// x = F xi with a fixed random F [24,20]; the first 9 values are known, with different noise.
struct Toy {
  Tensor f = normal(3, Stream::splits, 0, kValues, {kLatent}, torch::kFloat64);
  Tensor w = torch::zeros({kValues}, torch::kFloat64);
  Tensor y = normal(4, Stream::splits, 0, 1, {kValues}, torch::kFloat64)[0];

  Toy() { w.narrow(0, 0, 9).copy_(torch::linspace(0.5, 40, 9, torch::kFloat64)); }
  GaussianMap map() const {
    return {[this](const Tensor& xi) {
              return xi.flatten(1).mm(f.t()).view({-1, 2, 3, 4});
            },
            [this](const Tensor& x) {
              return x.flatten(1).mm(f).view({-1, 1, 4, 5});
            }};
  }
  NoisyValues data(int64_t count) const {
    return {y.view({1, 2, 3, 4}).repeat({count, 1, 1, 1}), w.view({1, 2, 3, 4}).repeat({count, 1, 1, 1})};
  }
  Tensor covariance() const {
    return torch::linalg_inv(torch::eye(kLatent, torch::kFloat64) + f.t().mm(w.unsqueeze(1) * f));
  }
};

Tensor plain(const Tensor& r) { return r; }

// The mean in the other form of the formula: F^T (F F^T + sigma^2)^-1 y over the known values.
TEST(GaussianConditioning, TheMeanIsThatOfLinearAlgebra) {
  const Toy toy;
  const auto known = toy.f.narrow(0, 0, 9), noise = torch::diag(1 / toy.w.narrow(0, 0, 9));
  const auto mean = known.t().mm(torch::linalg_inv(known.mm(known.t()) + noise)).mv(toy.y.narrow(0, 0, 9));
  const auto result = condition_gaussian(toy.map(), toy.data(1), plain);
  EXPECT_LT(testing::relative_error(result.x.flatten(), mean), 1e-9);
}

TEST(GaussianConditioning, DrawsHaveThePosteriorsMeanAndCovariance) {
  const Toy toy;
  constexpr int64_t kDraws = 20000;
  const PosteriorNoise noise{normal(5, Stream::splits, 0, kDraws, {2, 3, 4}, torch::kFloat64),
                             normal(6, Stream::splits, 0, kDraws, {1, 4, 5}, torch::kFloat64)};
  const auto xi = condition_gaussian(toy.map(), toy.data(kDraws), plain, noise).x.flatten(1);
  const auto mean = condition_gaussian(toy.map(), toy.data(1), plain).x.flatten();
  const auto centred = xi - mean;
  const auto deviation = toy.covariance().diag().sqrt();
  EXPECT_LT((centred.mean(0) / deviation).abs().max().item<double>(), 4.5 / std::sqrt(kDraws));
  EXPECT_LT(testing::relative_error(centred.t().mm(centred) / kDraws, toy.covariance()), 0.05);
}

TEST(GaussianConditioning, UnknownValuesAreIgnored) {
  const Toy toy;
  auto data = toy.data(1);
  const auto before = condition_gaussian(toy.map(), data, plain).x;
  data.values = torch::where(data.precision > 0, data.values, torch::full_like(data.values, NAN));
  EXPECT_TRUE(torch::equal(condition_gaussian(toy.map(), data, plain).x, before));
  EXPECT_ERROR(condition_gaussian(toy.map(), {data.values, toy.data(2).precision}, plain), ExitCode::data,
               "do not fit");
}

}  // namespace
}  // namespace piddm
