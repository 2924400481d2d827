#include "piddm/tables/paper.h"

#include <cmath>
#include <set>

#include "tests/testing.h"

namespace piddm {
namespace {

const std::set<std::string> kMethods = {"teacher", "eci",     "diffusionpde", "dflow", "pidm",
                                        "distill", "piddm-1", "piddm-ref",    "piddm"};
const std::set<std::string> kPdes = {"darcy", "poisson",       "burgers", "helmholtz", "stokes",
                                     "heat",  "navier-stokes", "pme",     "stefan"};
const std::set<std::string> kTasks = {"generate", "forward", "inverse", "reconstruct"};
const std::set<std::string> kMetrics = {
    "mmse",  "smse", "pde_error", "fpd",  "nfe",    "backward",    "seconds_per_sample",
    "mse_u", "swd",  "mse_a",     "apdd", "misfit", "mse_variance"};
const std::set<std::string> kWords = {"pde", "task", "method", "setting", "doubtful"};

/// The one row of a table with these properties.
json row(const std::string& table, const json& properties) {
  const json rows = paper_table(table).at("rows");
  json found;
  for (const auto& candidate : rows) {
    bool same = true;
    for (const auto& [key, value] : properties.items()) same = same && candidate.value(key, json()) == value;
    if (!same) continue;
    EXPECT_TRUE(found.is_null()) << table << ": two rows " << properties;
    found = candidate;
  }
  EXPECT_FALSE(found.is_null()) << table << ": no row " << properties;
  return found;
}

TEST(PaperTable, EveryRowHasKnownNamesAndFiniteNumbers) {
  for (const auto& name : paper_table_names()) {
    const json table = paper_table(name);
    EXPECT_GT(table.at("caption").get<std::string>().size(), 10U) << name;
    EXPECT_THAT(table.at("caveat").get<std::string>(), ::testing::HasSubstr("compare ratios")) << name;
    for (const auto& r : table.at("rows")) {
      EXPECT_TRUE(kMethods.count(r.at("method"))) << name << r;
      EXPECT_TRUE(kPdes.count(r.at("pde"))) << name << r;
      EXPECT_TRUE(kTasks.count(r.at("task"))) << name << r;
      int metrics = 0;
      for (const auto& [key, value] : r.items()) {
        if (kWords.count(key)) continue;
        EXPECT_TRUE(kMetrics.count(key)) << name << " " << key;
        ASSERT_TRUE(value.is_number()) << name << " " << key;
        EXPECT_TRUE(std::isfinite(value.get<double>()) && value.get<double>() >= 0) << name << r;
        ++metrics;
      }
      EXPECT_GT(metrics, 0) << name << r;
    }
  }
}

TEST(PaperTable, HasAllTablesInFull) {
  const std::vector<std::pair<std::string, size_t>> sizes = {
      {"table-generative", 63}, {"table-compute", 6},   {"table-downstream", 15}, {"table-variants", 24},
      {"table-components", 4},  {"table-diversity", 4}, {"table-teacher", 5},     {"table-architecture", 4},
      {"table-weighting", 4},   {"table-latent", 11},   {"table-physics-term", 8}};
  EXPECT_EQ(paper_table_names().size(), sizes.size());
  for (const auto& [name, rows] : sizes) EXPECT_EQ(paper_table(name).at("rows").size(), rows) << name;
}

TEST(PaperTable, NamesEachRowOnce) {
  for (const auto& name : paper_table_names()) {
    const json table = paper_table(name);
    std::set<std::string> seen;
    for (const auto& r : table.at("rows")) {
      const std::string identity =
          fmt::format("{} {} {} {} {}", r.at("pde").get<std::string>(), r.at("task").get<std::string>(),
                      r.at("method").get<std::string>(), r.value("setting", ""), r.contains("mse_variance"));
      EXPECT_TRUE(seen.insert(identity).second) << name << ": " << identity;
    }
  }
}

TEST(PaperTable, GivesThePrintedValuesInPlainUnits) {
  EXPECT_EQ(row("table-generative", {{"pde", "darcy"}, {"method", "piddm-ref"}}).at("smse"), 0.002e-2);
  EXPECT_EQ(row("table-generative", {{"pde", "poisson"}, {"method", "eci"}}).at("pde_error"), 2.420e-9);
  EXPECT_EQ(row("table-generative", {{"pde", "pme"}, {"method", "teacher"}}).at("smse"), 2.639e-1);
  EXPECT_EQ(row("table-generative", {{"pde", "burgers"}, {"method", "dflow"}}).at("nfe"), 5000);
  EXPECT_EQ(row("table-compute", {{"method", "dflow"}}).at("seconds_per_sample"), 19.302);
  EXPECT_EQ(row("table-downstream", {{"task", "reconstruct"}, {"method", "diffusionpde"}}).at("mse_u"), 0.143e-1);
  EXPECT_EQ(row("table-variants", {{"task", "inverse"}, {"setting", "no-hard"}}).at("mse_a"), 0.503e-1);
  EXPECT_EQ(row("table-components", {{"method", "distill"}}).at("fpd"), 0.825);
  EXPECT_EQ(row("table-diversity", {{"method", "piddm-1"}}).at("apdd"), 0.050);
  EXPECT_EQ(row("table-teacher", {{"setting", "6000"}}).at("pde_error"), 0.231e-4);
  EXPECT_EQ(row("table-architecture", {{"method", "piddm-1"}, {"setting", "autoencoder"}}).at("mmse"), 0.310e-2);
  EXPECT_EQ(row("table-weighting", {{"pde", "poisson"}, {"setting", "dynamic"}}).at("smse"), 0.035e-1);
  EXPECT_EQ(row("table-latent", {{"setting", "20"}}).at("misfit"), 0.012);
  EXPECT_EQ(row("table-latent", {{"task", "inverse"}, {"method", "diffusionpde"}}).at("mse_variance"), 54.61e-5);
  EXPECT_EQ(row("table-physics-term", {{"setting", "dmd-no-physics"}}).at("pde_error"), 1.248e-4);
}

TEST(PaperTable, MarksWhatContradictsItself) {
  const auto doubt = [](const json& r) { return r.value("doubtful", ""); };
  EXPECT_THAT(doubt(row("table-generative", {{"pde", "burgers"}, {"method", "pidm"}})),
              ::testing::HasSubstr("repeat the Poisson row"));
  EXPECT_THAT(doubt(row("table-generative", {{"pde", "helmholtz"}, {"method", "dflow"}})),
              ::testing::AllOf(::testing::HasSubstr("the best; "), ::testing::HasSubstr("16 times")));
  EXPECT_THAT(doubt(row("table-variants", {{"task", "inverse"}, {"setting", "regression"}})),
              ::testing::HasSubstr("0.126e-4"));
  EXPECT_EQ(doubt(row("table-downstream", {{"task", "forward"}, {"method", "piddm"}})), "");
  EXPECT_EQ(doubt(row("table-variants", {{"task", "inverse"}, {"setting", "vp"}})), "");
}

TEST(PaperTable, TablesThatRepeatARunAgree) {
  for (const char* metric : {"mmse", "smse", "pde_error", "fpd"})
    for (const char* method : {"piddm-ref", "teacher", "dflow"})
      EXPECT_EQ(row("table-components", {{"method", method}}).at(metric),
                row("table-generative", {{"pde", "darcy"}, {"method", method}}).at(metric));
  for (const char* setting : {"reflow2", "dmd", "consistency"})
    for (const char* metric : {"mse_u", "pde_error"})
      EXPECT_EQ(row("table-physics-term", {{"setting", setting}}).at(metric),
                row("table-variants", {{"task", "forward"}, {"setting", setting}}).at(metric));
  EXPECT_EQ(row("table-latent", {{"setting", "80"}}).at("pde_error"),
            row("table-downstream", {{"task", "forward"}, {"method", "piddm"}}).at("pde_error"));
}

TEST(PaperTable, NamesTheNearestTable) {
  EXPECT_ERROR(paper_table("table-generativ"), ExitCode::usage, "'table-generative'");
}

TEST(PaperGenerativeRows, HaveTheThreeMethodsOfTheDemo) {
  const json rows = paper_generative_rows("navier-stokes");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.at("piddm-1"), (json{{"mmse", 0.285e-4}, {"smse", 0.218e-4}, {"pde_error", 3.184e-5}, {"nfe", 1}}));
  EXPECT_EQ(rows.at("piddm-ref").at("nfe"), 100);
  EXPECT_TRUE(paper_generative_rows("mine").is_null());
}

}  // namespace
}  // namespace piddm
