#include "piddm/tables/best.h"

#include "piddm/tables/report_files.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Row row_of(const std::string& method, const std::vector<std::pair<std::string, double>>& metrics) {
  Row row{.labels = {"stefan", "generate", method}, .count = 8};
  for (const auto& [name, value] : metrics) row.result.scores.values[name] = value;
  return row;
}

/// Rows against a floor of true data.
Report report_of(std::vector<Row> rows, const std::vector<std::pair<std::string, double>>& floor) {
  Report report{.experiment = "table-generative", .summary = "s", .reading = "r", .columns = {"mmse", "pde_error"}};
  report.rows = std::move(rows);
  for (const auto& [name, value] : floor) report.floors["stefan"].values[name] = value;
  return report;
}

TEST(BestRows, AResidualBelowThatOfTrueDataIsNeverBest) {
  auto report = report_of({row_of("smooth", {{"pde_error", 2e-4}, {"pde_error_ratio", -0.7}}),
                           row_of("good", {{"pde_error", 4e-4}, {"pde_error_ratio", 0.04}}),
                           row_of("bad", {{"pde_error", 7e-4}, {"pde_error_ratio", 1}})},
                          {{"pde_error", 3.9e-4}});
  EXPECT_THAT(best_rows(report, "pde_error"), ElementsAre(1));
  EXPECT_THAT(best_rows(report, "pde_error_ratio"), ElementsAre(1));
  EXPECT_THAT(table_of(report).markdown(), HasSubstr("**4.00e-4**"));
  EXPECT_THAT(table_of(report).markdown(), Not(HasSubstr("**2.00e-4**")));
  report.floors.clear();  // as in the paper, where it is not known
  EXPECT_THAT(best_rows(report, "pde_error"), ElementsAre(0));
}

TEST(BestRows, WhatIsStatisticallyAtTheFloorCountsAsTheFloor) {
  auto report = report_of({row_of("below", {{"pde_error", 2e-4}}), row_of("at", {{"pde_error", 3.8e-4}}),
                           row_of("seeds", {{"pde_error", 3.7e-4}}), row_of("above", {{"pde_error", 3.91e-4}})},
                          {{"pde_error", 3.9e-4}});
  report.rows[0].result.scores.intervals["pde_error"] = {1.9e-4, 2.1e-4};
  report.rows[1].result.scores.intervals["pde_error"] = {3.6e-4, 4.0e-4};
  report.rows[2].deviation.values["pde_error"] = 1.5e-5;
  EXPECT_THAT(best_rows(report, "pde_error"), ElementsAre(1, 2));
}

TEST(BestRows, FieldsThatSolveTheEquationAreAtTheFloorHoweverSmallTheirResidual) {
  const auto report = report_of({row_of("one step", {{"pde_error", 1e-3}, {"solution_error", 0.01}}),
                                 row_of("decoded", {{"pde_error", 3e-28}, {"solution_error", 0}})},
                                {{"pde_error", 4e-13}, {"solution_error", 2e-15}});
  EXPECT_THAT(best_rows(report, "pde_error"), ElementsAre(1));
  EXPECT_THAT(best_rows(report, "solution_error"), ElementsAre(1));
}

TEST(BestRows, DistancesBelowTheirFloorAreBestTogether) {
  const auto report = report_of({row_of("a", {{"mmse", 0.0015}, {"swd", 0.3}}), row_of("b", {{"mmse", 0.0016}}),
                                 row_of("c", {{"mmse", 0.0018}, {"swd", 0.2}})},
                                {{"mmse", 0.0017}});
  EXPECT_THAT(best_rows(report, "mmse"), ElementsAre(0, 1));
  EXPECT_THAT(best_rows(report, "swd"), ElementsAre(2));
  EXPECT_THAT(best_rows(report, "nfe"), IsEmpty());
}

TEST(BestRows, GroupsAreThoseOfOnePdeAndTask) {
  auto report = report_of({row_of("a", {{"mmse", 2}}), row_of("b", {{"mmse", 1}}), row_of("a", {{"mmse", 3}})}, {});
  report.rows[2].labels.task = "forward";
  auto best = best_rows(report, "mmse");
  std::sort(best.begin(), best.end());
  EXPECT_THAT(best, ElementsAre(1, 2));
}

/// A run that diverged beside one that did not.
Report diverged_report() {
  auto report = report_of({row_of("eci", {{"mmse", 6.65e5}, {"pde_error", 2.87e10}, {"nfe", 500}}),
                           row_of("teacher", {{"mmse", 0.5}, {"pde_error", 0.044}, {"nfe", 99}})},
                          {});
  report.columns = {"mmse", "pde_error", "nfe"};
  return report_from(to_json(report), "report.json");  // as one of an earlier version: nothing says so but its numbers
}

TEST(ReportFiles, EveryWriterSaysDiverged) {
  const auto report = diverged_report();
  const auto table = table_of(report);
  for (const auto& text : {table.markdown(), table.latex(), table.csv(), table.text(), table.html(),
                           page_table_of(report).html(), format_report(report)}) {
    EXPECT_THAT(text, HasSubstr("diverged"));
    EXPECT_THAT(text, Not(HasSubstr("2.87e10")));
    EXPECT_THAT(text, Not(HasSubstr("6.65e5")));
    EXPECT_THAT(text, HasSubstr("500"));  // its work
  }
  EXPECT_THAT(format_report(report), HasSubstr("stefan generate eci: diverged: mmse is beyond 100 variances"));
  EXPECT_EQ(to_json(report).at("rows")[0].at("metrics").at("pde_error"), 2.87e10);
  EXPECT_THAT(to_json(report).at("rows")[0].at("diverged").get<std::string>(), HasSubstr("100 variances"));
  EXPECT_FALSE(to_json(report).at("rows")[1].contains("diverged"));
}

TEST(ReportFiles, ADivergedRunIsNeverBestAndHasNoRatioBesideIt) {
  auto report = diverged_report();
  report.rows[0].result.scores.values["mmse_u"] = 0.1;
  report.rows[1].result.scores.values["mmse_u"] = 0.2;
  EXPECT_THAT(best_rows(report, "mmse_u"), ElementsAre(1));
  add_ratios(report, "eci");
  EXPECT_FALSE(report.rows[1].metric("pde_error_ratio"));
}

TEST(ReportFiles, SayInWhichPrecisionTheNetworksRan) {
  auto report = report_of({row_of("a", {{"mmse", 1}}), row_of("b", {{"mmse", 1}})}, {});
  EXPECT_THAT(format_report(report), Not(HasSubstr("arithmetic")));
  for (auto& row : report.rows) row.result.precision = "fp32";
  EXPECT_THAT(format_report(report), HasSubstr("arithmetic of the networks: fp32\n"));
  report.rows[1].result.precision = "bf16";
  const auto again = report_from(to_json(report), "report.json");
  EXPECT_THAT(format_report(again), HasSubstr("networks: bf16 (stefan generate b), fp32 (stefan generate a)"));
}

TEST(Report, ApddAgainstTheTeacherStandsBesideOurs) {
  auto report = report_of({row_of("piddm-1", {{"apd", 9}}), row_of("teacher", {{"apd", 10}})}, {});
  add_teacher_distances(report);
  EXPECT_DOUBLE_EQ(report.rows[0].metric("apdd_teacher").value(), 0.1);
  EXPECT_FALSE(report.rows[1].metric("apdd_teacher"));
}

}  // namespace
}  // namespace piddm
