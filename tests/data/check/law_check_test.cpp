#include "piddm/data/check/law_check.h"

#include <cmath>

#include "tests/data/fake_pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::FakePde;

double largest_z(const std::vector<LawScore>& scores) {
  double z = 0;
  for (const auto& score : scores) z = std::max(z, std::abs(score.z));
  return z;
}

TEST(LawCheck, DrawsOfTheLawAreNotSuspected) {
  const FakePde pde;
  for (const uint64_t seed : {0, 1, 2, 3})
    for (const int64_t n : {16, 300}) EXPECT_LT(largest_z(compare_with_law(pde, pde.sample(seed, 0, n))), 4.5);
}

TEST(LawCheck, NamesTheStatisticThatIsOff) {
  const FakePde pde;
  auto x = pde.sample(0, 0, 300);
  x.select(1, 2) += 0.2;
  const auto scores = compare_with_law(pde, x);
  ASSERT_EQ(scores.size(), 4u);
  EXPECT_EQ(scores[2].channel, "s");
  EXPECT_EQ(scores[2].statistic, "mean");
  EXPECT_NEAR(scores[2].law, 0.5, 0.06);
  EXPECT_NEAR(scores[2].data, 0.7, 0.06);
  EXPECT_NEAR(scores[2].z, 0.2 / std::sqrt((1 / 300.0 + 1 / 300.0) / 12), 3.5);
  EXPECT_LT(std::abs(scores[0].z), 4.5);
}

TEST(LawCheck, RoundOffOfAVanishingMeanIsNotADifference) {
  class ZeroMean : public FakePde {
   public:
    Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override {
      const auto a = FakePde::sample_coefficients(seed, first, count);
      return a - a.mean({2, 3}, true);
    }
  };
  const ZeroMean pde;
  const auto a = pde.sample_coefficients(0, 0, 50);
  const auto x = torch::cat({a.narrow(1, 0, 1), a}, 1).to(torch::kFloat32) + 1e-8;
  EXPECT_LT(std::abs(compare_with_law(pde, x)[0].z), 1e-12);
}

TEST(LawCheck, CountsCoefficientsOfAnotherSeed) {
  const FakePde pde;
  auto x = pde.sample(5, 3, 20).to(torch::kFloat32);
  EXPECT_EQ(count_other_coefficients(pde, x, 5, 3), 0);
  x[4][2] += 1e-3;
  EXPECT_EQ(count_other_coefficients(pde, x, 5, 3), 1);
  EXPECT_EQ(count_other_coefficients(pde, x, 6, 3), 20);
  EXPECT_EQ(count_other_coefficients(pde, x, 5, 2), 20);
}

}  // namespace
}  // namespace piddm
