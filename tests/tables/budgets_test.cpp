#include "piddm/tables/budgets.h"

#include "piddm/solve/methods/registry.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;

TEST(Budgets, GiveEveryMethodTheSameEvaluations) {
  const auto entries = table_budgets().entries(table_options(Scale::smoke));
  std::map<std::string, int> rows;
  for (const auto& entry : entries) {
    ++rows[entry.labels.method];
    const auto most = std::stoll(entry.labels.setting);
    const auto count = method_card(entry.method).evaluations(entry.options, entry.task);
    EXPECT_LE(count.forward + count.gradient, 1.3 * static_cast<double>(most) + 1)
        << entry.labels.text();  // d-flow's repeats
    EXPECT_EQ(entry.model, entry.method == "piddm"  ? ModelRole::student
                           : entry.method == "pidm" ? ModelRole::pidm
                                                    : ModelRole::teacher);
  }
  EXPECT_EQ(rows.at("piddm"), 3 * 4 * 4);  // PDEs, tasks, rungs
  EXPECT_EQ(rows.at("eci"), 3 * 4 * 3);
  EXPECT_EQ(rows.size(), 7U);
}

TEST(Budgets, TakeChosenOptionsOfAMethodIntoEveryRow) {
  auto options = table_options(Scale::smoke);
  options.methods = {"cocogen"};
  options.pdes = {"darcy"};
  options.tasks = {"generate"};
  options.settings = {"20 evaluations"};
  options.by_method = {{"cocogen", {{"after", 300}}}};
  const auto entries = table_budgets().entries(options);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].options.at("after"), 300);
  EXPECT_EQ(entries[0].options.at("steps"), 20);
}

Row row(const std::string& method, const std::string& setting, double seconds, double error) {
  Row out{.labels = {"darcy", "generate", method, setting}};
  out.result.scores.values["seconds_per_sample"] = seconds;
  out.result.scores.values["pde_error"] = error;
  return out;
}

TEST(Budgets, AtEqualSecondsTheBestRowThatIsNotSlowerCounts) {
  Report report;
  report.experiment = "table-budgets";
  report.rows = {row("piddm", "1 evaluation", 0.01, 1e-3), row("piddm", "20 evaluations", 0.1, 5e-4),
                 row("eci", "20 evaluations", 0.02, 0.3),  row("eci", "80 evaluations", 0.09, 0.2),
                 row("eci", "320 evaluations", 0.5, 0.1),  row("cocogen", "20 evaluations", 0.05, 0.4)};
  report.rows.back().result.diverged = "pde_error";
  const auto text = at_equal_seconds(report);
  EXPECT_THAT(text, HasSubstr("at most 0.0100 s per sample: piddm pde_error 0.00100 (1 evaluation); cocogen none so "
                              "fast; eci none so fast\n"));
  EXPECT_THAT(text, HasSubstr("at most 0.100 s per sample: piddm pde_error 5.00e-4 (20 evaluations); cocogen none so "
                              "fast; eci pde_error 0.200 (80 evaluations)\n"));
  report.rows.clear();
  EXPECT_EQ(at_equal_seconds(report), "");
}

}  // namespace
}  // namespace piddm
