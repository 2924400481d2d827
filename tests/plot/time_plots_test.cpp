#include "piddm/plot/time_plots.h"

#include "tests/plot/picture.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::data_of;

TEST(TimePlots, TrajectoriesAreStatesAtFiveTimes) {
  const auto data = data_of("burgers");
  const auto figure = draw_trajectories(data, *pde_of(data), {0, 1});
  ASSERT_EQ(figure.rows.size(), 1U);
  const auto& chart = std::get<LineChart>(figure.rows[0].panels.at(1));
  ASSERT_EQ(chart.curves.size(), 5U);
  EXPECT_EQ(chart.curves[0].name, "t = 0");
  EXPECT_EQ(chart.curves[4].name, "t = 1");
  EXPECT_FLOAT_EQ(static_cast<float>(chart.curves[4].y[7]), data.fields[1][0][7][15].item<float>());
  EXPECT_NEAR(chart.curves[0].x[15], pde_of(data)->axes()[0].coordinates(16)[15].item<double>(), 1e-12);
}

TEST(TimePlots, NeedATimeAxis) {
  const auto darcy = data_of("darcy");
  EXPECT_ERROR(draw_trajectories(darcy, *pde_of(darcy), {0}), ExitCode::usage, "[darcy] its fields have no time axis");
  EXPECT_ERROR(draw_frames(darcy, *pde_of(darcy), {0}, 5), ExitCode::usage, "[darcy] its fields have no time axis");
}

TEST(TimePlots, FramesMoveAlongTimeWithAxesThatStandStill) {
  const auto data = data_of("burgers");
  const auto frames = draw_frames(data, *pde_of(data), {0, 2}, 4);
  ASSERT_EQ(frames.size(), 4U);
  for (size_t f = 0; f < 4; ++f) {
    const auto& chart = std::get<LineChart>(frames[f].rows[0].panels.at(0));
    EXPECT_EQ(chart.y_range, std::get<LineChart>(frames[0].rows[0].panels.at(0)).y_range);
    EXPECT_FLOAT_EQ(static_cast<float>(chart.curves[1].y[3]),
                    data.fields[2][0][3][5 * static_cast<int64_t>(f)].item<float>());
  }
  EXPECT_EQ(draw_frames(data, *pde_of(data), {0}, 100).size(), 16U);
  if (!can_draw()) return;
  const auto first = render(frames[0], PictureFormat::png, 48), last = render(frames[3], PictureFormat::png, 48);
  EXPECT_EQ(first.size.width, last.size.width);
  EXPECT_EQ(first.size.height, last.size.height);
}

}  // namespace
}  // namespace piddm
