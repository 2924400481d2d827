#include "piddm/tables/merge.h"

#include <algorithm>
#include <cmath>

#include "piddm/tables/options.h"
#include "piddm/tables/report_files.h"
#include "tests/files/flips.h"

namespace piddm {
namespace {

using ::testing::ElementsAre;

json tiny_report(const std::string& pde, const std::vector<std::string>& methods, double pde_error) {
  json report = {{"experiment", "table-generative"}, {"summary", "s"},       {"reading", "r"}, {"caveat", ""},
                 {"columns", {"pde_error"}},         {"rows", json::array()}};
  report["floors"] = {{pde, {{"mmse", 0.5}}}};
  report["options"] = write_fields(table_options(Scale::smoke));
  report["machine"] = {{"cpu", pde}};
  report["seconds"] = 1;
  for (const auto& method : methods)
    report["rows"].push_back({{"labels", {{"pde", pde}, {"task", "generate"}, {"method", method}}},
                              {"metrics", {{"pde_error", pde_error}}},
                              {"paper", nullptr}});
  return report;
}

/// By way of their files.
json merged_of(const std::vector<json>& reports) {
  std::vector<Report> read;
  for (const auto& report : reports) read.push_back(report_from(report, "report.json"));
  return to_json(merge_reports(read));
}

TEST(TableMerge, LaterRowsWin) {
  const auto merged = merged_of({tiny_report("darcy", {"teacher", "eci"}, 1), tiny_report("poisson", {"teacher"}, 2),
                                 tiny_report("darcy", {"eci"}, 3)});
  ASSERT_EQ(merged.at("rows").size(), 3u);
  EXPECT_EQ(merged.at("rows")[0].at("metrics").at("pde_error"), 1);
  EXPECT_EQ(merged.at("rows")[1].at("metrics").at("pde_error"), 3);
  EXPECT_EQ(merged.at("rows")[1].at("metrics").at("pde_error_ratio"), 3);  // to the teacher of another report
  EXPECT_EQ(merged.at("rows")[2].at("labels").at("pde"), "poisson");
  EXPECT_EQ(merged.at("floors").size(), 2u);
  EXPECT_EQ(merged.at("merged").size(), 3u);
  EXPECT_EQ(merged.at("merged")[1].at("machine").at("cpu"), "poisson");
  EXPECT_EQ(table_of(report_from(merged, "merged")).num_rows(), 3u);
  auto other = tiny_report("darcy", {"teacher"}, 1);
  other["experiment"] = "table-compute";
  EXPECT_ERROR(merged_of({tiny_report("darcy", {"teacher"}, 1), other}), ExitCode::usage,
               "a report of table-generative and one of table-compute");
  EXPECT_ERROR(merged_of({}), ExitCode::usage, "at least one report");
}

TEST(TableMerge, SeedsOfARowAreJoinedAndTheLaterOneWins) {
  const auto of_seed = [](uint64_t seed, double pde_error) {
    auto report = tiny_report("darcy", {"teacher"}, pde_error);
    report["rows"][0]["seed"] = seed;
    report["sizes"] = fmt::format("seed {}", seed);
    return report;
  };
  const auto two = merged_of({of_seed(0, 1), of_seed(1, 3)});
  ASSERT_EQ(two.at("rows").size(), 1u);
  EXPECT_EQ(two.at("rows")[0].at("metrics").at("pde_error"), 2);
  EXPECT_DOUBLE_EQ(two.at("rows")[0].at("deviation").at("pde_error").get<double>(), std::sqrt(2.0));
  EXPECT_EQ(two.at("sizes"), "seed 0; or seed 1");
  const auto again = merged_of({two, of_seed(1, 5), of_seed(2, 6)}).at("rows")[0];
  EXPECT_EQ(again.at("metrics").at("pde_error"), 4);  // of 1, 5 and 6
  EXPECT_EQ(again.at("by_seed").size(), 3u);
  const auto replaced = merged_of({of_seed(0, 1), of_seed(0, 4)}).at("rows")[0];
  EXPECT_EQ(replaced.at("metrics").at("pde_error"), 4);
  EXPECT_FALSE(replaced.contains("deviation"));
  const auto unknown = merged_of({tiny_report("darcy", {"teacher"}, 1), of_seed(1, 3)}).at("rows")[0];
  EXPECT_EQ(unknown.at("metrics").at("pde_error"), 3);  // nobody knows which seed the first one is
}

TEST(TableMerge, ASettingOfTheReferencesNameIsTheReferenceOfAllSettings) {
  auto report = tiny_report("darcy", {"teacher", "teacher", "piddm-1"}, 2);
  const std::vector<std::pair<std::string, double>> rows = {{"teacher", 4}, {"teacher in bf16", 6}, {"bare", 1}};
  for (size_t i = 0; i < rows.size(); ++i) {
    report["rows"][i]["labels"]["setting"] = rows[i].first;
    report["rows"][i]["metrics"]["pde_error"] = rows[i].second;
  }
  const auto merged = merged_of({report});
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(merged.at("rows")[i].at("metrics").at("pde_error_ratio"), rows[i].second / 4) << rows[i].first;
}

TEST(TableMerge, ColumnsAreThoseOfTheTableNow) {
  const auto columns = merged_of({tiny_report("darcy", {"teacher"}, 1)}).at("columns").get<std::vector<std::string>>();
  const auto ratio = std::find(columns.begin(), columns.end(), "pde_error_ratio");
  ASSERT_NE(ratio, columns.end());
  EXPECT_EQ(*(ratio - 1), "pde_error");
  EXPECT_NE(std::find(columns.begin(), columns.end(), "smse"), columns.end());
}

TEST(TableMerge, ARowSaysWhichReportItIsFrom) {
  const auto two = merged_of({tiny_report("darcy", {"teacher", "eci"}, 1), tiny_report("poisson", {"eci"}, 2)});
  const auto merged = merged_of({tiny_report("burgers", {"eci"}, 3), two});
  ASSERT_EQ(merged.at("merged").size(), 3u);
  for (const auto& row : merged.at("rows")) {
    const auto& part = merged.at("merged").at(row.at("part").get<size_t>());
    EXPECT_EQ(part.at("machine").at("cpu"), row.at("labels").at("pde"));
  }
}

TEST(TableMerge, RowsAreGroupedByTheirLabels) {
  const auto merged = merged_of({tiny_report("darcy", {"piddm-1"}, 1), tiny_report("poisson", {"piddm-1"}, 1),
                                 tiny_report("poisson", {"teacher"}, 1), tiny_report("darcy", {"teacher"}, 1)});
  std::vector<std::string> order;
  for (const auto& row : merged.at("rows"))
    order.push_back(row.at("labels").at("pde").get<std::string>() + " " +
                    row.at("labels").at("method").get<std::string>());
  EXPECT_THAT(order, ElementsAre("darcy piddm-1", "darcy teacher", "poisson piddm-1", "poisson teacher"));
}

TEST(TableMerge, RatiosOfThePaperAreTakenAgainToo) {
  auto teacher = tiny_report("darcy", {"teacher"}, 1), eci = tiny_report("darcy", {"eci"}, 1);
  teacher["rows"][0]["paper"] = {{"pde_error", 2.0}};
  eci["rows"][0]["paper"] = {{"pde_error", 5.0}};
  const auto merged = merged_of({teacher, eci});
  EXPECT_EQ(merged.at("rows")[1].at("paper").at("pde_error_ratio"), 2.5);
}

TEST(TableMerge, ReadsReportsOfEarlierVersions) {
  auto old = tiny_report("darcy", {"teacher"}, 1);
  old["options"] = {{"samples", 64}, {"dflow_samples", 4}, {"cases", 8}, {"dflow_cases", 2}, {"seeds", {0}}};
  old["rows"][0]["paper"] = {{"pde", "darcy"}, {"method", "teacher"}, {"pde_error", 2.0}, {"doubtful", "too good"}};
  const auto report = report_from(old, "old.json");
  EXPECT_THAT(report.sizes, ::testing::HasSubstr("64 samples per method (4 of D-Flow)"));
  EXPECT_EQ(report.rows[0].paper->doubtful, "too good");
  EXPECT_EQ(report.rows[0].paper->metrics.at("pde_error"), 2.0);
  EXPECT_ERROR(report_from({{"rows", 1}}, "other.json"), ExitCode::data, "other.json: not the report of a table");
}

TEST(TableMerge, ScalesAreNotMixed) {
  auto smoke = tiny_report("darcy", {"teacher"}, 1), paper = smoke, older = smoke;
  smoke["scale"] = "smoke";
  paper["scale"] = "paper";
  EXPECT_ERROR(merged_of({older, smoke, paper}), ExitCode::usage, "a report of scale smoke and one of scale paper");
  EXPECT_EQ(merged_of({older, paper}).at("scale"), "paper");
  EXPECT_EQ(merged_of({smoke, older}).at("scale"), "smoke");
  EXPECT_FALSE(merged_of({older}).contains("scale"));
}

TEST(TableReport, NoBitOfItsFileChangesUnnoticed) {
  const testing::TempDir dir;
  write_report_file(dir / "report.json", report_from(tiny_report("darcy", {"teacher"}, 0.1), "report.json"));
  testing::expect_no_silent_damage(
      dir / "report.json", [&] { return to_json(read_report_file(dir / "report.json")).dump(); }, 400);
}

TEST(TableReport, OneOfAnotherKindIsRefusedInPlainWords) {
  const testing::TempDir dir;
  const auto refused = [&](const json& object, const std::string& why) {
    testing::write_text(dir / "report.json", object.dump());
    EXPECT_ERROR(read_report_file(dir / "report.json"), ExitCode::data,
                 (dir / "report.json").string() + ": not the report of a table: " + why);
  };
  auto report = tiny_report("darcy", {"teacher"}, 1);
  report.erase("columns");
  refused(report, "key 'columns' not found");
  report = tiny_report("darcy", {"teacher"}, 1);
  report["rows"] = {{"a", 1}};
  refused(report, "cannot use at()");
  report["rows"] = "none";
  refused(report, "");
}

}  // namespace
}  // namespace piddm
