#include "piddm/eval/diversity.h"

#include <cmath>

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

Tensor gaussian_set(int64_t n, const std::vector<int64_t>& shape, uint64_t seed) {
  return normal(seed, Stream::coefficients, 0, n, shape, torch::kFloat64);
}

TEST(SliceDirections, AreUnitVectorsAndAlwaysTheSame) {
  const auto directions = slice_directions(40);
  EXPECT_EQ(directions.sizes().vec(), (std::vector<int64_t>{40, 128}));
  EXPECT_NEAR(directions.square().sum(0).sub(1).abs().max().item<double>(), 0, 1e-14);
  EXPECT_TRUE(torch::equal(directions, slice_directions(40)));
}

TEST(SlicedPool, IsW1OfUnequalSetsOnALine) {
  // {0, 1} against {0, 0.5, 4}: F - G is 1/2 - 1/3 on [0,0.5), 1/2 - 2/3 on [0.5,1), 1 - 2/3 on [1,4)
  const SlicedPool pool(torch::tensor({0.0, 1.0, 0.0, 0.5, 4.0}, torch::kFloat64).unsqueeze(1));
  const auto weights = torch::tensor({1.0 / 2, 1.0 / 2, -1.0 / 3, -1.0 / 3, -1.0 / 3}, torch::kFloat64);
  EXPECT_NEAR(pool.distance(weights), 0.5 / 6 + 0.5 / 6 + 3.0 / 3, 1e-14);
}

// A shift moves every projection by its component: the mean of |<shift, direction>|.
TEST(SlicedWasserstein, OfAShiftIsItsMeanComponent) {
  const auto x = gaussian_set(20, {2, 3, 3}, 1), shift = gaussian_set(1, {2, 3, 3}, 2);
  const double expected = shift.reshape({1, 18}).matmul(slice_directions(18)).abs().mean().item<double>();
  EXPECT_NEAR(sliced_wasserstein(x + shift, x), expected, 1e-12);
  EXPECT_NEAR(sliced_wasserstein(x, x.flip(0)), 0, 1e-15);
}

// W1 of N(0,1) and N(0,s^2) on a line is |s - 1| sqrt(2/pi).
TEST(SlicedWasserstein, OfGaussiansApproachesTheClosedForm) {
  const auto x = gaussian_set(4000, {12}, 3);
  EXPECT_NEAR(sliced_wasserstein(x, 2 * gaussian_set(3000, {12}, 4)), std::sqrt(2 / M_PI), 0.03);
}

TEST(SlicedWasserstein, SaysWhatDoesNotFit) {
  EXPECT_ERROR(sliced_wasserstein(torch::zeros({3, 4}), torch::zeros({3, 5})), ExitCode::data, "differ in shape");
  EXPECT_ERROR(sliced_wasserstein(torch::zeros({3}), torch::zeros({3, 5})), ExitCode::data, "(N,...), got (3)");
}

TEST(PairwiseDistance, OfThreePointsIsTheirMeanDistance) {
  const auto x = torch::tensor({0.0, 0.0, 3.0, 4.0, 0.0, 8.0}, torch::kFloat64).view({3, 1, 2}) + 100;
  EXPECT_NEAR(average_pairwise_distance(x), (5.0 + 5.0 + 8.0) / 3, 1e-12);
  const auto distances = pairwise_distances(x);
  EXPECT_EQ(distances.diagonal().abs().max().item<double>(), 0);
  EXPECT_NEAR(average_pairwise_distance(distances, torch::tensor({1.0, 0.0, 1.0}, torch::kFloat64)), 8, 1e-12);
  // twice the first and once the second: of the three pairs one has distance 0
  EXPECT_NEAR(average_pairwise_distance(distances, torch::tensor({2.0, 1.0, 0.0}, torch::kFloat64)), 10.0 / 3, 1e-12);
  EXPECT_ERROR(average_pairwise_distance(x.narrow(0, 0, 1)), ExitCode::data, "at least 2 samples, got 1");
}

}  // namespace
}  // namespace piddm
