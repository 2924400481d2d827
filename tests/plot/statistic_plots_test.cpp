#include "piddm/plot/statistic_plots.h"

#include <cmath>

#include "tests/plot/picture.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::data_of;
using testing::field_at;

TEST(StatisticPlots, MeanAndDeviationOfEveryEntry) {
  const auto data = data_of("darcy", 4);
  const auto u = data.fields.select(1, 0).to(torch::kFloat64);
  const auto mean = draw_mean(data, pde_of(data), {}, ""), deviation = draw_deviation(data, pde_of(data), {}, "");
  EXPECT_TRUE(torch::allclose(field_at(mean, 0, 0).field, u.mean(0)));
  EXPECT_TRUE(torch::allclose(field_at(deviation, 0, 0).field, u.std(0)));
  const auto against = draw_mean(data, pde_of(data), data.fields * 2, "");
  ASSERT_EQ(against.rows.size(), 2U);
  EXPECT_TRUE(torch::allclose(field_at(against, 0, 2).field, -u.mean(0)));
  EXPECT_EQ(field_at(against, 0, 0).range, field_at(against, 0, 1).range);
  EXPECT_ERROR(draw_deviation(data_of("darcy", 1), pde_of(data), {}, ""), ExitCode::data, "at least 2 samples");
  EXPECT_ERROR(draw_mean(data, pde_of(data), data.fields.slice(3, 0, 4), ""), ExitCode::data, "--reference");
}

TEST(StatisticPlots, ScalarsAreNumbersWithTheirDeviation) {
  const auto data = data_of("heat", 5);
  const auto figure = draw_mean(data, pde_of(data), data.fields, "");
  const auto& strip = std::get<NumberStrip>(figure.rows.at(1).panels.at(0));
  const auto values = data.fields.select(1, 1).to(torch::kFloat64).mean({1, 2});
  EXPECT_NEAR(strip.marks.at(0).value, values.mean().item<double>(), 1e-9);
  EXPECT_NEAR(strip.marks.at(1).error, values.std().item<double>(), 1e-9);
}

TEST(StatisticPlots, QuantilesShareOneScale) {
  const auto figure = draw_quantiles(data_of("darcy", 6), make_pde({.name = "darcy", .grid = 16}), "");
  const auto &low = field_at(figure, 0, 0), &median = field_at(figure, 0, 1), &high = field_at(figure, 0, 2);
  EXPECT_EQ(low.range, high.range);
  EXPECT_TRUE((low.field <= median.field).all().item<bool>());
  EXPECT_TRUE((median.field <= high.field).all().item<bool>());
}

TEST(StatisticPlots, SpectraOfFieldChannelsOnly) {
  const auto heat = data_of("heat"), darcy = data_of("darcy");
  EXPECT_EQ(draw_spectra(heat, *pde_of(heat), heat.fields, "itself").rows[0].panels.size(), 1U);
  const auto two = draw_spectra(darcy, *pde_of(darcy), darcy.fields, "itself");
  const auto& chart = std::get<LineChart>(two.rows[0].panels.at(1));
  EXPECT_EQ(chart.curves[0].y, chart.curves[1].y);
  EXPECT_EQ(chart.curves[1].name, "itself, 3 samples");
  EXPECT_ERROR(draw_spectra(darcy, *pde_of(darcy), darcy.fields.slice(2, 0, 8), ""), ExitCode::data, "(B,2,16,16)");
}

TEST(StatisticPlots, CoverageOfNormalSamplesIsThatOfTheNormalLaw) {
  torch::manual_seed(3);
  const auto samples = torch::randn({4000, 16}, torch::kFloat64);
  const std::vector<double> shares = {0.2, 0.5, 0.9};
  const auto same = central_coverage(samples, torch::randn({4000, 16}, torch::kFloat64), shares);
  const auto wide = central_coverage(samples, 2 * torch::randn({4000, 16}, torch::kFloat64), shares);
  for (size_t i = 0; i < shares.size(); ++i) {
    EXPECT_NEAR(same[i], shares[i], 0.01);
    EXPECT_LT(wide[i], 0.8 * shares[i] + 0.01);
  }
  // Half of N(0,1) lies within 0.6745; of N(0,4) that is erf(0.6745 / (2 sqrt 2)).
  EXPECT_NEAR(wide[1], std::erf(0.6745 / (2 * std::sqrt(2.0))), 0.01);
}

TEST(StatisticPlots, CalibrationNeedsSamplesAndTruth) {
  const auto data = data_of("darcy", 12);
  const auto figure = draw_calibration(data, pde_of(data), data.fields, "");
  const auto& chart = std::get<LineChart>(figure.rows[0].panels.at(0));
  EXPECT_EQ(figure.rows[0].panels.size(), 1U);  // a has two values
  EXPECT_EQ(chart.curves.at(1).x, chart.curves.at(1).y);
  EXPECT_ERROR(draw_calibration(data_of("darcy", 3), nullptr, data.fields, ""), ExitCode::data, "at least 10 samples");
}

}  // namespace
}  // namespace piddm
