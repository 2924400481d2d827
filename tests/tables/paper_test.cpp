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
    "mmse",  "smse", "pde_error", "fpd",          "nfe",    "backward",    "seconds_per_sample",
    "mse_u", "swd",  "mse_a",     "apdd_teacher", "misfit", "mse_variance"};
const std::set<std::string> kWords = {"pde", "task", "method", "setting", "doubtful"};

/// A table of the paper as one object per row.
json rows_of(const std::string& table) {
  json rows = json::array();
  for (const auto& [labels, numbers] : paper_table(table).rows) {
    json row = to_json(labels);
    row.update(json(numbers.metrics));
    if (!numbers.doubtful.empty()) row["doubtful"] = numbers.doubtful;
    rows.push_back(row);
  }
  return rows;
}

/// The one row of a table with these properties.
json row(const std::string& table, const json& properties) {
  const json rows = rows_of(table);
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
    const auto table = paper_table(name);
    EXPECT_GT(table.caption.size(), 10U) << name;
    EXPECT_THAT(table.caveat, ::testing::HasSubstr("compare ratios")) << name;
    for (const auto& r : rows_of(name)) {
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
  for (const auto& [name, rows] : sizes) EXPECT_EQ(paper_table(name).rows.size(), rows) << name;
}

TEST(PaperTable, NamesEachRowOnce) {
  for (const auto& name : paper_table_names()) {
    std::set<std::string> seen;
    for (const auto& r : rows_of(name)) {
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
  EXPECT_EQ(row("table-diversity", {{"method", "piddm-1"}}).at("apdd_teacher"), 0.050);
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

TEST(PaperTable, IsEmptyWhereThePaperHasNone) { EXPECT_TRUE(paper_table("table-sensitivity").rows.empty()); }

TEST(PaperTable, HasTheMethodsOfTheDemoForEveryPde) {
  const auto ours = row("table-generative", {{"pde", "navier-stokes"}, {"method", "piddm-1"}});
  for (const auto& [metric, value] : {std::pair{"mmse", 0.285e-4}, {"smse", 0.218e-4}, {"pde_error", 3.184e-5}})
    EXPECT_EQ(ours.at(metric), value) << metric;
  for (const auto& pde : kPdes)
    for (const char* method : {"teacher", "piddm-1", "piddm-ref"})
      EXPECT_GE(row("table-generative", {{"pde", pde}, {"method", method}}).at("nfe"), 1);
}

}  // namespace
}  // namespace piddm
