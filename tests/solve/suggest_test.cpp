#include "piddm/solve/suggest.h"

#include "piddm/solve/methods/elliptic_law.h"
#include "tests/solve/methods/small_model.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kGrid = 10, kEntries = kGrid * kGrid;

/// u of Poisson's law: F_u with u = F_u xi, so that the covariance is F_u F_u^T.
Tensor law_of_u() {
  const Poisson pde(PdeOptions{"poisson", kGrid});
  const EllipticLaw law(pde);
  const auto f = testing::dense_matrix([&](const Tensor& xi) { return law.apply(xi); }, {1, kGrid, kGrid});
  const auto u = f.narrow(0, 0, kEntries);
  return u / u.square().sum(1).mean().sqrt();
}

const Tensor kAll = torch::ones({kEntries}, torch::kBool);

/// By how much each of these places lowers the variances of the dense covariance, as a share of the best place's fall
/// there (of symmetric places several are the best); and what is left, after each.
struct Falls {
  std::vector<double> share, left;
};

Falls dense_falls(Tensor p, double sigma, const std::vector<Suggestion>& places) {
  Falls out;
  for (const auto& one : places) {
    const auto fall = p.square().sum(0) / (p.diagonal() + sigma * sigma);
    out.share.push_back((fall[one.entry] / fall.max()).item<double>());
    const auto column = p.select(1, one.entry).clone();
    p = p - torch::outer(column, column) / (column[one.entry] + sigma * sigma);
    out.left.push_back(p.trace().item<double>());
  }
  return out;
}

TEST(Suggest, IsTheExactGaussianDesignOnPoisson) {
  const auto f = law_of_u();
  for (const double sigma : {0.01, 0.1}) {
    const auto found = suggest_sensors(f.t(), kAll, torch::full({kEntries}, sigma, torch::kFloat64), 4);
    ASSERT_EQ(found.size(), 4u);
    const auto dense = dense_falls(f.mm(f.t()), sigma, found);
    EXPECT_NEAR(found[0].before, f.square().sum().item<double>(), 1e-9);
    for (size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(dense.share[k], 1, 1e-9) << k;
      EXPECT_NEAR(found[k].after, dense.left[k], 1e-9) << k;
    }
  }
}

TEST(Suggest, AnEnsembleFindsNearlyTheSame) {
  const auto f = law_of_u();
  const auto members = normal(3, Stream::noise, 0, 1000, {kEntries}, torch::kFloat64).mm(f.t());
  const auto sigma = torch::full({kEntries}, 0.1, torch::kFloat64);
  const auto found = suggest_sensors(ensemble_root(members), kAll, sigma, 4);
  for (const double share : dense_falls(f.mm(f.t()), 0.1, found).share) EXPECT_GT(share, 0.9);
}

TEST(Suggest, TakesCandidatesOnlyAndEachOnce) {
  const auto f = law_of_u();
  auto candidate = torch::zeros({kEntries}, torch::kBool);
  candidate[33] = candidate[34] = true;
  const auto found = suggest_sensors(f.t(), candidate, torch::full({kEntries}, 0.5, torch::kFloat64), 5);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].entry + found[1].entry, 67);
  EXPECT_LT(found[1].after, found[0].after);
}

}  // namespace
}  // namespace piddm
