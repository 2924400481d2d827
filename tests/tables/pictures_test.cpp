#include "piddm/tables/pictures.h"

#include "piddm/tables/field_panels.h"
#include "piddm/tables/tables.h"
#include "tests/recipe/tiny_tables.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Pictures of numbers alone. A workbench that only plans has no fields to draw.
class TablePictures : public ::testing::Test {
 protected:
  std::vector<Entry> entries(const std::string& table) const { return table_registry().at(table)().entries(options_); }
  static Report report(const std::vector<Entry>& entries, const json& metrics) {
    Report out;
    for (const auto& entry : entries)
      out.rows.push_back({.labels = entry.labels, .result = {.scores = metrics.get<Scores>()}});
    return out;
  }
  std::string svg(const std::string& name) const { return testing::read_text(folder_ / name); }

  testing::TempDir folder_;
  TableOptions options_ = testing::tiny_table_options();
  Workbench bench_{folder_ / "root", options_.judge, torch::kCPU, Recipe::Mode::plan};
};

TEST_F(TablePictures, AblationHasAChartForEachSettingAndShowsZero) {
  const auto shown = entries("figure-ablation");
  auto numbers = report(shown, {{"pde_error", 0.5}, {"mmse", 0.25}});
  numbers.rows[0].result = {.failed = "diverged"};
  draw_ablation(bench_, shown, numbers, folder_.path());
  const auto text = svg("ablation.svg");
  for (const char* part : {"N_s", "lambda_train (0 drawn at 0.001)", "lambda_infer (0 drawn at 0.001)", "pde_error"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("N_s (0")));
  EXPECT_THAT(text, Not(HasSubstr("solution_error")));  // no row has it
  EXPECT_TRUE(std::filesystem::exists(folder_ / "ablation.png"));
}

TEST_F(TablePictures, ParetoShowsExactMethodsAndLeavesOutWhatFailed) {
  const auto shown = entries("figure-pareto");
  auto numbers = report(shown, {{"seconds_per_sample", 0.1}, {"solution_error", 0.5}, {"mse_u", 0.5}});
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto& method = shown[i].labels.method;
    if (method == "piddm-decoded") numbers.rows[i].result.scores.values["solution_error"] = 0;
    if (method == "cocogen") numbers.rows[i].result = {.failed = "diverged"};
  }
  draw_pareto(bench_, shown, numbers, folder_.path());
  const auto generation = svg("pareto-generate.svg"), forward = svg("pareto-forward.svg");
  for (const char* part : {"solution_error (1e-6: that or less)", "piddm-decoded", "teacher, 25 steps"})
    EXPECT_THAT(generation, HasSubstr(part));
  for (const char* part : {"not shown", "cocogen", "without a network"}) EXPECT_THAT(generation, Not(HasSubstr(part)));
  for (const char* part : {"piddm, 80 steps", "without a network"}) EXPECT_THAT(forward, HasSubstr(part));
}

TEST_F(TablePictures, BarsAreInUnitsOfTheTeacherAndNameTheFloor) {
  options_.pdes = {"poisson"};
  const auto shown = entries("table-generative");
  auto numbers = report(shown, {{"pde_error", 2e-9}});
  numbers.floors["poisson"].values["pde_error"] = 4e-10;
  numbers.rows[0].result.scores.intervals["pde_error"] = {NAN, NAN};  // as a diverged method leaves it
  draw_generation(bench_, shown, numbers, folder_.path());
  const auto text = svg("pde_error.svg");
  for (const char* part : {"poisson (floor 0.2)", "pde_error over that of teacher", "diffusionpde"})
    EXPECT_THAT(text, HasSubstr(part));
  for (const char* part : {"piddm-decoded", "not shown"}) EXPECT_THAT(text, Not(HasSubstr(part)));
}

TEST_F(TablePictures, TasksHaveBarsForWhatTheyAskFor) {
  const auto shown = entries("table-downstream");
  draw_tasks(bench_, shown, report(shown, {{"mse_u", 0.5}, {"mse_a", 0.0}}), folder_.path());
  const auto text = svg("error.svg");
  for (const char* part : {"forward u", "inverse a", "reconstruct u", "reconstruct a", "mse (1e-6: that or less)"})
    EXPECT_THAT(text, HasSubstr(part));
  for (const char* part : {"forward a", "inverse u", "not shown"}) EXPECT_THAT(text, Not(HasSubstr(part)));
}

TEST(FieldPanels, OneWildMapDoesNotSetTheColoursOfAll) {
  const auto map = torch::full({4, 4}, 0.5, torch::kFloat64);
  EXPECT_EQ(shared_range({map, -map, map * 1e6}), (ColorRange{-1, 1}));
  EXPECT_EQ(shared_range({map, map * NAN}), (ColorRange{-1, 1}));
  EXPECT_EQ(shared_range({map * 2}), (ColorRange{-2, 2}));
}

TEST(FieldPanels, ColoursAreThoseOfTheTruth) {
  const auto pde = testing::tiny_pde();
  const auto truth = testing::tiny_data(4);
  const auto colors = sample_colors(truth, {truth[0] * 1.5}, *pde);
  EXPECT_EQ(colors.channels[0].second, truth.select(1, 0).max().item<double>());
  EXPECT_EQ(colors.channels[1], (ColorRange{3, 12}));
  const auto panels = sample_panels(truth[1] * 1.5, *pde, colors);
  ASSERT_EQ(panels.size(), 3U);
  EXPECT_EQ(panels[2].range->second, colors.residual.second);
  EXPECT_GT(colors.residual.second, 0);
}

TEST(FieldPanels, ASolvedCaseShowsWhatWasGivenAndTheError) {
  const auto pde = testing::tiny_pde();
  const auto truth = testing::tiny_data(1);
  const auto observed = observe(Task::reconstruct, truth, *pde, 1);
  const SolvedCase solved{truth[0] + 0.25, truth[0], observed.mask[0]};
  EXPECT_TRUE(asked(solved, 0));
  const auto given = given_panel(solved, *pde, 0);
  EXPECT_TRUE(torch::equal(given.field.isnan(), observed.mask[0][0] == 0));
  EXPECT_TRUE(given.gaps);
  const auto answer = answer_panels(solved, *pde, 1, ColorRange{-2, 2});
  EXPECT_THAT(answer[1].title, HasSubstr("a error, rms 0.25"));
  EXPECT_EQ(answer[1].range, (ColorRange{-2, 2}));
  EXPECT_FALSE(asked({solved.x, solved.truth, observe(Task::inverse, truth, *pde, 1).mask[0]}, 0));
}

}  // namespace
}  // namespace piddm
