#include "piddm/tables/pictures.h"

#include "piddm/plot/picture_file.h"
#include "piddm/tables/field_panels.h"
#include "piddm/tables/report_files.h"
#include "piddm/tables/tables.h"
#include "tests/recipe/tiny_tables.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Charts of numbers alone.
class TablePictures : public ::testing::Test {
 protected:
  std::vector<Entry> entries(const std::string& table) const { return table_registry().at(table)().entries(options_); }
  static Report report(const std::vector<Entry>& entries, const json& metrics) {
    Report out;
    for (const auto& entry : entries)
      out.rows.push_back({.labels = entry.labels, .result = {.scores = metrics.get<Scores>()}});
    return out;
  }
  /// Every text of the figure of this name; empty where there is none.
  static std::string words(const std::vector<NamedFigure>& figures, const std::string& name) {
    std::string out;
    for (const auto& one : figures)
      if (one.name == name)
        for (const auto& text : render(one.figure, PictureFormat::svg).texts) out += text.text + "\n";
    return out;
  }
  void SetUp() override {
    if (!can_draw()) GTEST_SKIP() << "built without Cairo";
  }

  TableOptions options_ = testing::tiny_table_options();
};

TEST_F(TablePictures, AblationHasAChartForEachSettingAndShowsZero) {
  const auto shown = entries("figure-ablation");
  auto numbers = report(shown, {{"pde_error", 0.5}, {"mmse", 0.25}});
  numbers.rows[0].result = {.failed = "diverged"};
  const auto text = words(chart_ablation(numbers), "ablation");
  for (const char* part : {"N_s", "lambda_train (0 drawn at 0.001)", "lambda_infer (0 drawn at 0.001)", "pde_error"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("N_s (0")));
  EXPECT_THAT(text, Not(HasSubstr("solution_error")));  // no row has it
}

TEST_F(TablePictures, ParetoShowsExactMethodsAndLeavesOutWhatFailed) {
  const auto shown = entries("figure-pareto");
  auto numbers = report(shown, {{"seconds_per_sample", 0.1}, {"solution_error", 0.5}, {"mse_u", 0.5}});
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto& method = shown[i].labels.method;
    if (method == "piddm-decoded") numbers.rows[i].result.scores.values["solution_error"] = 0;
    if (method == "cocogen") numbers.rows[i].result = {.failed = "diverged"};
  }
  const auto charts = chart_pareto(numbers);
  const auto generation = words(charts, "pareto-generate"), forward = words(charts, "pareto-forward");
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
  const auto text = words(chart_generation(numbers), "pde_error");
  for (const char* part : {"poisson (floor 0.2)", "pde_error over that of teacher", "diffusionpde"})
    EXPECT_THAT(text, HasSubstr(part));
  for (const char* part : {"piddm-decoded", "not shown"}) EXPECT_THAT(text, Not(HasSubstr(part)));
}

TEST_F(TablePictures, TasksHaveBarsForWhatTheyAskFor) {
  const auto shown = entries("table-downstream");
  const auto text = words(chart_tasks(report(shown, {{"mse_u", 0.5}, {"mse_a", 0.0}})), "error");
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
  const auto panels = sample_panels(truth * 1.5, 1, *pde, colors);
  ASSERT_EQ(panels.size(), 3U);
  EXPECT_EQ(std::get<FieldPanel>(panels[2]).range, colors.residuals.at(0));
  EXPECT_GT(colors.residuals.at(0).second, 0);
}

TEST(FieldPanels, ScalarsAreNumbers) {
  const auto pde = make_pde({.name = "heat", .grid = 16});
  const auto truth = pde->sample(0, 0, 3);
  const auto colors = sample_colors(truth, {truth[0]}, *pde);
  EXPECT_EQ(sample_panels(truth, 0, *pde, colors).size(), 2U);  // u and R
  const auto strips = scalar_panels(truth, *pde, colors);
  ASSERT_EQ(strips.size(), 1U);
  EXPECT_EQ(std::get<NumberStrip>(strips[0]).points.size(), 3U);
  const SolvedCase solved{truth[0], truth[1], torch::zeros_like(truth[0])};
  const auto answer = answer_panels(solved, *pde, 1);
  ASSERT_EQ(answer.size(), 1U);
  const auto& marks = std::get<NumberStrip>(answer[0]).marks;
  EXPECT_NEAR(marks.at(0).value, truth[1][1][0][0].item<double>(), 1e-12);
  EXPECT_NEAR(marks.at(1).value, truth[0][1][0][0].item<double>(), 1e-12);
}

TEST(TableReports, PagesShowFloorsAsRowsAndIntervals) {
  Report report;
  report.columns = {"pde_error"};
  report.rows.push_back(
      {.labels = {"darcy", "generate", "eci", ""}, .result = {.scores = json{{"pde_error", 0.5}}.get<Scores>()}});
  report.rows[0].result.scores.intervals["pde_error"] = {0.25, 0.75};
  report.floors["darcy"].values["pde_error"] = 0.125;
  const auto page = page_table_of(report).csv(), file = table_of(report).csv();
  EXPECT_THAT(page, HasSubstr("eci,\"0.500 [0.250, 0.750]\"\nfloor,0.125\n"));
  EXPECT_THAT(file, Not(HasSubstr("floor")));
  EXPECT_THAT(file, Not(HasSubstr("[")));
}

TEST(TableReports, AreDrawnAgainFromTheirNumbers) {
  const testing::TempDir folder;
  Report report;
  report.experiment = "figure-ablation";
  report.columns = {"pde_error"};
  report.rows.push_back({.labels = {"darcy", "generate", "piddm-1", "N_s = 5"},
                         .result = {.scores = json{{"pde_error", 0.5}}.get<Scores>()}});
  write_report_file(folder / "report.json", report);
  EXPECT_TRUE(is_table_report(folder / "report.json"));
  const auto drawn = draw_report(folder / "report.json", 96, ".pdf");
  ASSERT_EQ(drawn.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(drawn[0]));
  testing::write_text(folder / "other.json", "{}");
  EXPECT_FALSE(is_table_report(folder / "other.json"));
}

TEST(FieldPanels, ASolvedCaseShowsWhatWasGivenAndTheError) {
  const auto pde = testing::tiny_pde();
  const auto truth = testing::tiny_data(1);
  const auto observed = observe(Task::reconstruct, truth, *pde, 1);
  const SolvedCase solved{truth[0] + 0.25, truth[0], observed.mask[0]};
  EXPECT_TRUE(asked(solved, 0));
  const auto given = std::get<FieldPanel>(given_panel(solved, *pde, 0));
  EXPECT_TRUE(torch::equal(given.field.isnan(), observed.mask[0][0] == 0));
  EXPECT_TRUE(given.gaps);
  const auto answer = answer_panels(solved, *pde, 1, ColorRange{-2, 2});
  EXPECT_THAT(std::get<FieldPanel>(answer[1]).title, HasSubstr("a error, rms 0.25"));
  EXPECT_EQ(std::get<FieldPanel>(answer[1]).range, (ColorRange{-2, 2}));
  EXPECT_FALSE(asked({solved.x, solved.truth, observe(Task::inverse, truth, *pde, 1).mask[0]}, 0));
}

}  // namespace
}  // namespace piddm
