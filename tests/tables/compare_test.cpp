#include "piddm/tables/compare.h"

#include "piddm/model/model.h"
#include "piddm/tables/report_files.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

class Compare : public ::testing::Test {
 protected:
  void SetUp() override {
    save_model(folder_ / "teacher", testing::tiny_teacher());
    save_model(folder_ / "student", testing::tiny_student());
    options_.samples = 3;
    options_.cases = 2;
    options_.held_out = 4;
    options_.methods = {"teacher", "piddm", "eci", "diffusionpde", "cocogen", "dflow", "pidm"};
    options_.settings = {{"teacher", {{"steps", 3}}},
                         {"piddm", {{"task", {{"iterations", 3}}}}},
                         {"eci", {{"steps", 2}}},
                         {"diffusionpde", {{"steps", 3}, {"eta", 0.01}}},
                         {"cocogen", {{"steps", 3}, {"last", 1}}},
                         {"dflow", {{"steps", 2}, {"task", {{"iterations", 2}}}}}};
  }
  Report run() const {
    return run_compare({folder_ / "teacher", folder_ / "student", {}}, options_, folder_ / "out", torch::kCPU);
  }
  /// The result of a row; null where there is none.
  static json row(const Report& report, const std::string& method, const std::string& task) {
    for (const auto& r : report.rows)
      if (r.labels.method == method && r.labels.task == task) return to_json(r.result);
    return {};
  }

  testing::TempDir folder_;
  CompareOptions options_;
};

TEST_F(Compare, HasEveryMethodOnEveryTask) {
  options_.settings["piddm"]["refine"] = {{"step", 0.01}};
  const auto report = run();
  const std::vector<std::pair<std::string, double>> nfe = {{"teacher", 3},      {"piddm", 3},   {"eci", 10},
                                                           {"diffusionpde", 3}, {"cocogen", 3}, {"dflow", 4}};
  for (const char* task : {"generate", "forward", "inverse", "reconstruct"}) {
    for (const auto& [method, count] : nfe) {
      const auto found = row(report, method, task);
      EXPECT_EQ(found.at("nfe"), method == "piddm" && task == std::string("generate") ? 1 : count) << method << task;
      EXPECT_GT(found.at("pde_error").get<double>(), 0);
      EXPECT_TRUE(found.contains(task == std::string("generate") ? "mmse" : "mse_u"));
    }
    EXPECT_EQ(row(report, "pidm", task).at("refused"), "no pidm model given");
  }
  EXPECT_EQ(row(report, "piddm-ref", "generate").at("nfe"), 80);
  EXPECT_TRUE(row(report, "piddm-ref", "forward").is_null());
  const auto text = format_report(report);
  for (const char* part : {"diffusionpde", "seconds_per_sample", "pidm: refused: no pidm model given"})
    EXPECT_THAT(text, ::testing::HasSubstr(part));
  for (const char* file : {"report.json", "table.md", "table.csv", "table.tex"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "out" / file)) << file;
}

TEST_F(Compare, KeepsWhatIsDoneAndRunsWhatChanged) {
  options_.methods = {"teacher", "eci"};
  options_.tasks = {"forward"};
  const auto first = run(), second = run();
  EXPECT_EQ(to_json(first).at("rows"), to_json(second).at("rows"));  // seconds too: nothing ran again
  options_.settings["eci"]["steps"] = 3;
  const auto third = run();
  EXPECT_EQ(row(third, "teacher", "forward"), row(first, "teacher", "forward"));
  EXPECT_EQ(row(third, "eci", "forward").at("nfe"), 15);
}

TEST_F(Compare, KnowsThePapersMatchedSettings) {
  options_.methods = {"eci"};
  options_.tasks = {"generate"};
  options_.settings = json::object();
  options_.matched = true;
  EXPECT_EQ(row(run(), "eci", "generate").at("nfe"), 300);
}

TEST_F(Compare, RefusesModelsThatDoNotBelongTogether) {
  EXPECT_ERROR(run_compare({}, options_, folder_ / "out", torch::kCPU), ExitCode::usage, "no model given");
  auto other = testing::tiny_teacher();
  other.pde = make_pde({"poisson", 16});
  save_model(folder_ / "other", other);
  EXPECT_ERROR(run_compare({folder_ / "other", folder_ / "student", {}}, options_, folder_ / "out", torch::kCPU),
               ExitCode::usage, "the student is of another PDE: it is darcy, not poisson");
}

}  // namespace
}  // namespace piddm
