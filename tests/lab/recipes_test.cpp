#include <cmath>

#include "piddm/core/config.h"
#include "piddm/core/json_text.h"
#include "piddm/lab/lab.h"
#include "tests/testing.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;

json smoke_options(const std::string& name, const std::vector<std::string>& settings) {
  json options = lab_registry().at(name)().options(Scale::smoke);
  for (const auto& setting : settings) apply_setting(options, setting);
  return options;
}

/// Runs twice: the second run must find every step done and report the same.
json run_twice(const std::string& name, const json& options, const fs::path& out) {
  const auto report = run_lab(name, options, out, torch::kCPU);
  std::map<fs::path, fs::file_time_type> steps;
  for (const auto& entry : fs::directory_iterator(out / "steps"))
    steps[entry.path()] = fs::last_write_time(entry.path() / "step.json");
  auto again = run_lab(name, options, out, torch::kCPU);
  for (const auto& [path, time] : steps) EXPECT_EQ(fs::last_write_time(path / "step.json"), time);
  auto first = report;
  first.erase("seconds"), again.erase("seconds");
  EXPECT_EQ(first, again);
  EXPECT_EQ(parse_json(testing::read_text(out / "report.json"), "report").at("options"), options);
  EXPECT_FALSE(testing::read_text(out / "report.md").empty());
  EXPECT_TRUE(report.at("machine").contains("piddm"));
  return report;
}

TEST(FigureJensen, ErrorsVanishTowardsTheDataAndNoWeightServesBothCoordinates) {
  const testing::TempDir dir;
  const auto options = smoke_options("figure-jensen", {"samples=400", "steps=200"});
  const auto report = run_twice("figure-jensen", options, dir.path());
  for (const auto& [name, result] : report.at("processes").items()) {
    const auto& peak = result.at("peak");
    EXPECT_LT(peak.at("at_end").get<double>(), 1e-3 * peak.at("absolute").get<double>()) << name;
    EXPECT_GT(peak.at("t").get<double>(), 0.1) << name;
    EXPECT_EQ(result.at("conditional").at("wrong_side"), 0) << name;
    EXPECT_LT(result.at("conditional").at("w1_free").get<double>(), 0.05) << name;
    const auto &plain = result.at("guided").front(), &guided = result.at("guided").back();
    EXPECT_NEAR(plain.at("wrong_side").get<double>(), 0.5, 0.1) << name;
    EXPECT_LT(guided.at("wrong_side").get<double>(), 0.02) << name;
    EXPECT_LT(guided.at("std_free").get<double>(), 0.19) << name;
  }
  EXPECT_TRUE(fs::exists(dir / "figure-jensen.png"));
  EXPECT_THAT(testing::read_text(dir / "velocity-errors.csv"),
              ::testing::StartsWith("process,t,absolute,absolute_free,absolute_constrained,angular\n"));
}

TEST(FigureMog, MethodsSatisfyTheirOwnPromises) {
  const testing::TempDir dir;
  const auto options = smoke_options("figure-mog", {"samples=200", "steps=60", "pairs=2000", "train_steps=60"});
  const auto report = run_twice("figure-mog", options, dir.path());
  std::map<std::string, json> rows;
  for (const auto& row : report.at("rows")) rows[row.at("method").get<std::string>()] = row;
  for (const char* mode : {"fixed", "resample", "ddim"})
    EXPECT_EQ(rows.at(std::string("eci ") + mode).at("max_difference"), 0);
  EXPECT_NEAR(report.at("law").at("std_difference").get<double>(), std::sqrt(0.08e-5), 1e-9);
  EXPECT_NEAR(rows.at("law").at("std_difference").get<double>(), std::sqrt(0.08e-5), 2e-4);
  EXPECT_EQ(rows.at("dps per time").at("nfe"), 60);
  EXPECT_EQ(rows.at("dps per time").at("backward"), 60);
  EXPECT_EQ(rows.at("piddm-1").at("nfe"), 1);
  EXPECT_LT(rows.at("piddm-ref").at("std_difference").get<double>(),
            rows.at("piddm-1").at("std_difference").get<double>());
  EXPECT_TRUE(fs::exists(dir / "figure-mog.png"));
  EXPECT_TRUE(fs::exists(dir / "methods.csv"));
}

TEST(Theory, NumbersAgreeWithTheTheorems) {
  const testing::TempDir dir;
  const auto options = smoke_options("theory", {"iterations=2000", "pairs=5000"});
  const auto report = run_twice("theory", options, dir.path());
  EXPECT_LT(report.at("scores").at("largest_deviation").get<double>(), 1e-12);
  for (const auto& row : report.at("guidance")) {
    const auto value = [&](const char* key) { return row.at(key).get<double>(); };
    EXPECT_NEAR(value("measured"), value("corrected"), 1e-10 * std::abs(value("corrected")));
    EXPECT_NEAR(value("corrected_at_optimum"), value("optimum"), 1e-10 * std::abs(value("optimum")));
    EXPECT_GT(std::abs(value("printed_at_optimum") - value("optimum")), 0.1 * value("gamma"));
  }
  for (const auto& [teacher, rows] : report.at("distillation").items())
    for (const auto& row : rows) {
      EXPECT_LT(row.at("largest_z").get<double>(), 4.5) << teacher;
      EXPECT_LE(row.at("energy").get<double>(), 1.1 * row.at("bound").get<double>()) << teacher;
    }
  EXPECT_TRUE(fs::exists(dir / "theory.png"));
}

TEST(Lab, OptionsAreReadStrictly) {
  const testing::TempDir dir;
  EXPECT_ERROR(run_lab("theory", {{"pears", 3}}, dir.path(), torch::kCPU), ExitCode::usage, "did you mean 'pairs'?");
  EXPECT_ERROR(run_lab("theory", {{"beta", 3}}, dir.path(), torch::kCPU), ExitCode::usage, "beta is gone");
  EXPECT_ERROR(run_lab("theory", {{"pairs", 1}}, dir.path(), torch::kCPU), ExitCode::usage,
               "pairs: must be at least 2, got 1");
  EXPECT_ERROR(run_lab("figure-jensen", {{"samples", 3}}, dir.path(), torch::kCPU), ExitCode::usage, "must be even");
  EXPECT_ERROR(run_lab("figure-mog", {{"train", 3}}, dir.path(), torch::kCPU), ExitCode::usage,
               "train is now train_steps");
  EXPECT_ERROR(lab_registry().at("figure-jensn"), ExitCode::usage, "did you mean 'figure-jensen'?");
  EXPECT_ERROR(parse_scale("smok"), ExitCode::usage, "did you mean 'smoke'?");
}

TEST(Lab, LargerScalesAskForMore) {
  for (const auto& entry : lab_registry().entries())
    EXPECT_NE(entry.make().options(Scale::smoke), entry.make().options(Scale::paper)) << entry.name;
}

}  // namespace
}  // namespace piddm
