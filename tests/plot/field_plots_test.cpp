#include "piddm/plot/field_plots.h"

#include "piddm/core/progress.h"
#include "tests/testing.h"

namespace piddm {
namespace {

Dataset data_of(const std::string& name) {
  set_progress_mode(ProgressMode::silent);
  return make_dataset(*make_pde({.name = name, .grid = 16}), 0, 0, 3);
}

/// How many different colours a picture has.
size_t colors(const Canvas& canvas) {
  std::set<std::tuple<int, int, int>> seen;
  for (int y = 0; y < canvas.height(); ++y)
    for (int x = 0; x < canvas.width(); ++x) {
      const Rgb c = canvas.at(x, y);
      seen.emplace(c.r, c.g, c.b);
    }
  return seen.size();
}

TEST(FieldPlots, OneRowASampleOneColumnAChannelAndTheResidual) {
  const auto data = data_of("stokes");
  const auto pde = pde_of(data);
  const auto bare = draw_samples(data, nullptr, {0}, ""), with = draw_samples(data, pde, {0}, ""),
             two = draw_samples(data, pde, {0, 2}, ""), reference = draw_samples(data, pde, {0}, "", true);
  EXPECT_GT(with.width(), bare.width() + 144);
  EXPECT_NEAR(two.width(), with.width(), 40);  // titles have numbers in them
  EXPECT_GT(two.height(), with.height() + 144);
  EXPECT_GT(reference.width(), with.width() + 2 * 144);
  EXPECT_GT(colors(with), 200u);
}

TEST(FieldPlots, TrajectoriesNeedTime) {
  const auto data = data_of("heat");
  const auto one = draw_trajectories(data, *pde_of(data), {1}), two = draw_trajectories(data, *pde_of(data), {0, 1});
  EXPECT_EQ(two.height(), one.height());
  EXPECT_GT(two.width(), one.width());
  const auto darcy = data_of("darcy");
  EXPECT_ERROR(draw_trajectories(darcy, *pde_of(darcy), {0}), ExitCode::usage, "[darcy] its fields have no time axis");
}

TEST(FieldPlots, SpectraOfFieldChannelsOnly) {
  const auto heat = data_of("heat"), darcy = data_of("darcy");
  const auto one = draw_spectra(heat, *pde_of(heat), heat.fields, "itself"),
             two = draw_spectra(darcy, *pde_of(darcy), darcy.fields, "itself");
  EXPECT_GT(two.width(), one.width() + 600);
  EXPECT_ERROR(draw_spectra(darcy, *pde_of(darcy), darcy.fields.slice(2, 0, 8), ""), ExitCode::data, "(B,2,16,16)");
}

TEST(ArrangePictures, InRows) {
  Canvas a(10, 20, kInk), b(30, 5, kSignal);
  const auto sheet = arrange_pictures({a, b, a}, 2);
  EXPECT_EQ(sheet.width(), 40);
  EXPECT_EQ(sheet.height(), 40);
  EXPECT_EQ(sheet.at(9, 19), kInk);
  EXPECT_EQ(sheet.at(10, 0), kSignal);
  EXPECT_EQ(sheet.at(10, 5), kWhite);
  EXPECT_EQ(sheet.at(0, 20), kInk);
  EXPECT_EQ(sheet.at(20, 30), kWhite);
  EXPECT_ERROR(arrange_pictures({}, 2), ExitCode::usage, "0 pictures");
}

}  // namespace
}  // namespace piddm
