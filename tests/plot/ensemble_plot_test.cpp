#include "piddm/plot/ensemble_plot.h"

#include "piddm/data/data_file.h"
#include "tests/plot/picture.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::field_at;

EnsembleCase case_of(const Pde& pde, int64_t members) {
  EnsembleCase one{.members = pde.sample(3, 0, members)};
  one.mean = one.members.mean(0);
  one.deviation = one.members.std(0);
  one.sensors.resize(static_cast<size_t>(pde.num_channels()));
  return one;
}

TEST(EnsemblePlot, HasTruthMeanMembersSpreadAndProbability) {
  const auto pde = make_pde({.name = "darcy", .grid = 16});
  auto one = case_of(*pde, 3);
  one.probability = (one.members > 7.5).to(torch::kFloat64).mean(0);
  one.truth = pde->sample(3, 9, 1)[0];
  one.sensors[0] = {{0, 0}, {7.5, 15}};
  const auto figure = draw_ensemble(one, pde, "title");
  ASSERT_EQ(figure.rows.size(), 2U);
  EXPECT_EQ(figure.rows[0].panels.size(), 5U);
  EXPECT_EQ(figure.rows[1].panels.size(), 6U);
  const auto& truth = field_at(figure, 0, 0);
  ASSERT_EQ(truth.sensors.size(), 2U);  // entry i is the middle of its cell
  EXPECT_NEAR(truth.sensors[1].first, 0.5, 1e-12);
  EXPECT_NEAR(truth.sensors[1].second, 15.5 / 16, 1e-12);
  EXPECT_TRUE(field_at(figure, 0, 1).sensors.empty());
  EXPECT_EQ(field_at(figure, 0, 1).range, color_range(truth));
  EXPECT_TRUE(torch::equal(field_at(figure, 0, 4).field, one.deviation[0]));
  EXPECT_EQ(field_at(figure, 0, 4).range->first, 0);
  EXPECT_TRUE(torch::equal(field_at(figure, 1, 5).field, one.probability[1]));
  check_figure(figure);
}

TEST(EnsemblePlot, WithoutATruthSensorsStandOnTheMean) {
  const auto pde = make_pde({.name = "poisson", .grid = 16});
  auto one = case_of(*pde, 2);
  one.sensors[1] = {{3, 4}};
  const auto figure = draw_ensemble(one, pde, "title");
  EXPECT_EQ(figure.rows[1].panels.size(), 4U);
  EXPECT_EQ(field_at(figure, 1, 0).sensors.size(), 1U);
  EXPECT_THAT(field_at(figure, 1, 0).title, ::testing::HasSubstr("mean"));
}

TEST(EnsemblePlot, AScalarIsItsMeanAmongTheMembers) {
  const auto pde = make_pde({.name = "heat", .grid = 16});
  const auto figure = draw_ensemble(case_of(*pde, 5), pde, "title");
  const auto& strip = std::get<NumberStrip>(figure.rows[1].panels.at(0));
  EXPECT_EQ(strip.points.size(), 5U);
  EXPECT_GT(strip.marks.at(0).error, 0);
}

TEST(EnsemblePlot, ReadsItsFile) {
  const testing::TempDir folder;
  const auto pde = make_pde({.name = "darcy", .grid = 16});
  const auto x = pde->sample(3, 0, 4).to(torch::kFloat32);
  TensorMap arrays;
  for (int64_t c = 0; c < 2; ++c) {
    const auto& name = pde->channels()[static_cast<size_t>(c)].name;
    arrays[name] = x.select(1, c).contiguous();
    arrays[name + "_mean"] = arrays[name + "_std"] = x.select(1, c).narrow(0, 0, 2).contiguous();
  }
  DataDescription description{.pde = "darcy", .parameters = json::object(), .origin = {{"ensemble", 2}}};
  description.more["sensors"] = json::array({{{"case", 1}, {"channel", 0}, {"i", 3}, {"j", 5}}});
  const auto file = folder / "e.npz";
  const auto write = [&] {
    write_data_file(file, {arrays, write_description(description, pde->channel_names(), 4, 16, torch::kFloat32)});
  };
  write();
  EXPECT_TRUE(is_ensemble_file(file));
  const auto figure = draw_ensemble_file(file, 1, {});
  EXPECT_EQ(field_at(figure, 0, 0).sensors.size(), 1U);
  EXPECT_TRUE(torch::equal(field_at(figure, 0, 1).field, x[2][0].to(torch::kFloat64)));
  EXPECT_TRUE(field_at(draw_ensemble_file(file, 0, {}), 0, 0).sensors.empty());
  EXPECT_ERROR(draw_ensemble_file(file, 2, {}), ExitCode::data, "has no members of a case 2");
  EXPECT_ERROR(draw_ensemble_file(file, 0, torch::zeros({1, 2, 8, 8})), ExitCode::data, "the truth has fields");
  description.origin = json::object();
  write();
  EXPECT_FALSE(is_ensemble_file(file));
}

}  // namespace
}  // namespace piddm
