#include "piddm/posterior/noise.h"

#include "piddm/numerics/sine_transform.h"
#include "tests/testing.h"

namespace piddm {
namespace {

const DrawOptions kOptions{.smooth = 3, .modes = 6, .white = 1};

TEST(DrawNoise, HasUnitVarianceOnAverageAndTheModesItWasAskedFor) {
  const auto e = draw_noise(kOptions, {20, 14}, 7, Stream::draws, 0, 400);
  EXPECT_EQ(e.sizes(), (std::vector<int64_t>{400, 4, 20, 14}));
  for (int64_t c = 0; c < 4; ++c) EXPECT_NEAR(e.select(1, c).square().mean().item<double>(), 1, 0.05) << c;
  const auto modes = cosine_transform(e.narrow(1, 0, 3).contiguous());
  EXPECT_LT(modes.narrow(2, 6, 14).abs().max().item<double>(), 1e-5);
  EXPECT_LT(modes.narrow(3, 6, 8).abs().max().item<double>(), 1e-5);
}

TEST(DrawNoise, OfASampleDoesNotDependOnItsBatch) {
  const auto all = draw_noise(kOptions, {16, 16}, 7, Stream::draws, 0, 9);
  EXPECT_TRUE(all.narrow(0, 3, 4).equal(draw_noise(kOptions, {16, 16}, 7, Stream::draws, 3, 4)));
  EXPECT_FALSE(all.equal(draw_noise(kOptions, {16, 16}, 8, Stream::draws, 0, 9)));
}

TEST(DrawNoise, KeepsToTheModesThatACoarseGridHas) {
  EXPECT_TRUE(all_finite(draw_noise({.smooth = 1, .modes = 64, .white = 0}, {16, 20}, 7, Stream::draws, 0, 2)));
}

}  // namespace
}  // namespace piddm
