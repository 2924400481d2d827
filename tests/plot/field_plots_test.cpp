#include "piddm/plot/field_plots.h"

#include <cmath>

#include "piddm/plot/pde_panels.h"
#include "tests/plot/picture.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::data_of;
using testing::field_at;

TEST(FieldPlots, OneRowASampleOneColumnAChannelAndTheResidual) {
  const auto data = data_of("darcy");
  const auto pde = pde_of(data);
  EXPECT_EQ(draw_samples(data, nullptr, {0}, "").rows[0].panels.size(), 2U);
  const auto two = draw_samples(data, pde, {0, 2}, "");
  EXPECT_EQ(two.rows.size(), 2U);
  EXPECT_EQ(two.rows[1].label, "sample 2");
  ASSERT_EQ(two.rows[0].panels.size(), 3U);
  EXPECT_EQ(field_at(two, 0, 1).title, "a");
  EXPECT_TRUE(torch::equal(field_at(two, 1, 0).field, data.fields[2][0].to(torch::kFloat64)));
  const auto references = draw_samples(data, pde, {0}, "", true);
  ASSERT_EQ(references.rows[0].panels.size(), 5U);
  EXPECT_EQ(field_at(references, 0, 3).title, "u - u*(a)");
  EXPECT_LT(field_at(references, 0, 3).field.abs().max().item<double>(), 1e-6);
}

TEST(FieldPlots, AxesHaveTheCoordinatesOfTheEquation) {
  const auto data = data_of("burgers");
  const auto pde = pde_of(data);
  const auto& panel = field_at(draw_samples(data, pde, {0}, ""), 0, 0);
  const auto axes = pde->axes();
  EXPECT_EQ(panel.x.label, axes[0].label());
  EXPECT_EQ(panel.y.label, "t");
  for (const auto& [axis, of_pde] : {std::pair(panel.x, axes[0]), std::pair(panel.y, axes[1])}) {
    const double width = (axis.high - axis.low) / 16;  // of an entry, which stands in its middle
    EXPECT_NEAR(axis.low + width / 2, of_pde.coordinates(16)[0].item<double>(), 1e-12);
    EXPECT_NEAR(axis.high - width / 2, of_pde.coordinates(16)[15].item<double>(), 1e-12);
  }
}

TEST(FieldPlots, ScalarChannelsAreNumbersAmongThoseOfAllSamples) {
  const auto data = data_of("heat");
  const auto figure = draw_samples(data, pde_of(data), {1}, "");
  const auto& strip = std::get<NumberStrip>(figure.rows[0].panels.at(1));
  EXPECT_EQ(strip.points.size(), 3U);
  EXPECT_NEAR(strip.marks.at(0).value, data.fields[1][1][0][0].item<double>(), 1e-6);
  EXPECT_NEAR(strip.points[1], strip.marks[0].value, 1e-6);
}

TEST(FieldPlots, RoundOffIsCalledThatAndStaysPale) {
  const auto data = data_of("darcy", 1);
  const auto pde = pde_of(data);
  const auto exact = residual_maps(*pde, data.fields[0]).at(0);
  EXPECT_TRUE(exact.is_round_off());
  const auto panel = residual_panel(exact, *pde, data.fields[0]);
  EXPECT_THAT(panel.title, ::testing::HasSubstr("round-off"));
  EXPECT_GE(panel.range->second, 5 * root_mean_square(panel.field));
  const auto wrong = data.fields[0] + 1e-3 * data.fields[0].abs().max() * torch::randn({2, 16, 16});
  const auto real = residual_maps(*pde, wrong).at(0);
  EXPECT_FALSE(real.is_round_off());
  const auto shown = residual_panel(real, *pde, wrong);
  EXPECT_THAT(shown.title, ::testing::Not(::testing::HasSubstr("round-off")));
  EXPECT_LE(shown.range->second, shown.field.abs().max().item<double>());
}

TEST(FieldPlots, TheErrorOfAStencilIsNoRoundOff) {
  const auto heat = make_pde({.name = "heat", .grid = 128});
  EXPECT_FALSE(residual_maps(*heat, heat->sample(0, 0, 1)[0].to(torch::kFloat32)).at(0).is_round_off());
  for (const char* name : {"darcy", "poisson", "helmholtz"})
    for (const int64_t grid : {16, 48, 128}) {
      const auto pde = make_pde({.name = name, .grid = grid});
      const auto coefficients = pde->sample_coefficients(0, 0, 1).to(torch::kFloat32).to(torch::kFloat64);
      const auto stored = torch::cat({pde->solve(coefficients), coefficients}, 1)[0].to(torch::kFloat32);
      EXPECT_TRUE(residual_maps(*pde, stored).at(0).is_round_off()) << name << " " << grid;
    }
}

TEST(FieldPlots, ManySamplesAreAContactSheet) {
  const auto data = data_of("darcy", 10);
  std::vector<int64_t> all;
  for (int64_t i = 0; i < 10; ++i) all.push_back(i);
  const auto figure = draw_samples(data, pde_of(data), all, "");
  ASSERT_EQ(figure.rows.size(), 1U);
  ASSERT_EQ(figure.rows[0].panels.size(), 3U);
  const auto& sheet = field_at(figure, 0, 0);
  EXPECT_EQ(sheet.field.sizes(), (at::IntArrayRef{4 * 17 - 1, 3 * 17 - 1}));
  EXPECT_TRUE(torch::equal(sheet.field.slice(0, 0, 16).slice(1, 34, 50), data.fields[0][0].to(torch::kFloat64)));
  EXPECT_TRUE(torch::equal(sheet.field.slice(0, 17, 33).slice(1, 17, 33), data.fields[5][0].to(torch::kFloat64)));
  EXPECT_EQ(sheet.y.ticks.back().label, "0");
  EXPECT_EQ(sheet.y.ticks.front().label, "8");
  if (!can_draw()) return;
  EXPECT_EQ(testing::text_fault(render(figure, PictureFormat::png, 48)), "");
}

TEST(FieldPlots, TruthErrorAndSensorsStandBesideTheSample) {
  const auto data = data_of("darcy", 2);
  Truth truth{.fields = data.fields + 0.5, .mask = torch::zeros_like(data.fields)};
  truth.mask[1][0][3][5] = 1;
  const auto figure = draw_against_truth(data, pde_of(data), truth, {1}, "");
  ASSERT_EQ(figure.rows.size(), 2U);
  const auto &of_truth = field_at(figure, 0, 0), &of_sample = field_at(figure, 0, 1),
             &difference = field_at(figure, 0, 2);
  EXPECT_EQ(of_truth.range, of_sample.range);
  EXPECT_NEAR(difference.field.mean().item<double>(), -0.5, 1e-6);
  ASSERT_EQ(of_truth.sensors.size(), 1U);
  EXPECT_NEAR(of_truth.sensors[0].first, pde_of(data)->axes()[0].coordinates(16)[3].item<double>(), 1e-12);
  EXPECT_NEAR(of_truth.sensors[0].second, pde_of(data)->axes()[1].coordinates(16)[5].item<double>(), 1e-12);
  EXPECT_TRUE(field_at(figure, 1, 0).sensors.empty());
  EXPECT_ERROR(draw_against_truth(data, pde_of(data), {truth.fields.slice(2, 0, 8)}, {0}, ""), ExitCode::data,
               "--reference: its fields are (2,2,8,16)");
  EXPECT_ERROR(draw_against_truth(data, pde_of(data), {truth.fields.slice(0, 0, 1)}, {1}, ""), ExitCode::data,
               "has 1 samples, no sample 1");
}

}  // namespace
}  // namespace piddm
