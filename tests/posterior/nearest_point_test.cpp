#include "piddm/posterior/nearest_point.h"

#include "tests/testing.h"

namespace piddm {
namespace {

/// Distance of every point to the nearest marked one, by comparing all pairs.
Tensor distances_by_pairs(const Tensor& marked) {
  const auto marks = marked.nonzero();  // [M,2]
  const auto places = torch::ones_like(marked).nonzero();
  const auto squares = (places.unsqueeze(1) - marks.unsqueeze(0)).square().sum(2);
  return std::get<0>(squares.min(1)).to(torch::kFloat32).sqrt().view(marked.sizes());
}

TEST(NearestPoint, AgreesWithAllPairs) {
  torch::manual_seed(3);
  for (const auto& [height, width] : {std::pair{16, 16}, {7, 12}, {23, 5}, {1, 9}})
    for (const double share : {0.02, 0.1, 0.6}) {
      auto marked = torch::rand({4, height, width}) < share;
      marked.select(1, height / 2).select(1, 0).fill_(true);
      const auto nearest = nearest_points(marked);
      for (int64_t n = 0; n < 4; ++n) {
        EXPECT_TRUE(nearest.distance[n].equal(distances_by_pairs(marked[n]))) << height << " " << share;
        EXPECT_TRUE(marked[n].flatten().index_select(0, nearest.index[n].flatten()).all().item<bool>());
      }
      const auto row = nearest.index.div(width, "floor"), column = nearest.index.remainder(width);
      const auto i = torch::arange(height).view({-1, 1}), j = torch::arange(width);
      const auto apart = ((row - i).square() + (column - j).square()).to(torch::kFloat32).sqrt();
      EXPECT_TRUE(apart.equal(nearest.distance));
    }
}

TEST(NearestPoint, OfAnEmptyFieldIsInfinitelyFar) {
  const auto nearest = nearest_points(torch::zeros({2, 5, 6}, torch::kBool));
  EXPECT_TRUE(nearest.distance.isinf().all().item<bool>());
  EXPECT_EQ(nearest.index.abs().max().item<int64_t>(), 0);
}

TEST(NearestPoint, IsTheSameOnALargeGridWhereNumbersAreLong) {
  auto marked = torch::zeros({1, 1024, 1024}, torch::kBool);
  marked[0][1023][1023] = true;
  const auto nearest = nearest_points(marked);
  EXPECT_EQ(nearest.index.min().item<int64_t>(), 1024 * 1024 - 1);
  EXPECT_FLOAT_EQ(nearest.distance[0][0][0].item<float>(), 1023 * std::sqrt(2.0F));
}

}  // namespace
}  // namespace piddm
