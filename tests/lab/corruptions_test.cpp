#include "piddm/lab/corruptions.h"

#include "piddm/core/config.h"
#include "piddm/eval/evaluate.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

TEST(Corruptions, DamageWhatTheySay) {
  const auto pde = testing::tiny_pde();
  const auto x = testing::tiny_data(64);
  const auto damaged = [&](const char* name) { return corrupted(name, x, *pde, 0.1, 1); };
  const auto a = [](const Tensor& y) { return y.select(1, 1); };
  EXPECT_TRUE(torch::equal(damaged("none"), x));
  EXPECT_LT(a(damaged("blurred")).std().item<double>(), 0.95 * a(x).std().item<double>());
  EXPECT_NEAR(a(damaged("blurred")).mean().item<double>(), a(x).mean().item<double>(), 0.3);
  EXPECT_NEAR(a(damaged("speckled")).ne(a(x)).to(torch::kFloat64).mean().item<double>(), 0.1, 0.01);
  EXPECT_TRUE(torch::equal(damaged("speckled").select(1, 0), x.select(1, 0)));
  const auto rounded = damaged("rounded");
  EXPECT_TRUE(torch::equal(cut_to_values(rounded, pde->channels()), rounded));
  EXPECT_LT(pde->pde_error(rounded).max().item<double>(), 1e-10);
  EXPECT_FALSE(torch::equal(a(rounded), a(x)));
  EXPECT_LT(testing::relative_error(low_pass(damaged("without detail"), 2), damaged("without detail")), 1e-12);
  EXPECT_TRUE(torch::equal(damaged("duplicated")[63], x[7]));
  EXPECT_EQ(damaged("duplicated").sizes(), x.sizes());
  EXPECT_ERROR(damaged("blured"), ExitCode::usage, "did you mean 'blurred'?");
}

TEST(TableCorruptions, EachMetricReadsTheDamageItIsMadeFor) {
  const testing::TempDir dir;
  json options = lab_registry().at("table-corruptions")().options(Scale::smoke);
  for (const char* setting : {"samples=32", "solved=8", "experiment.pde.grid=16", "experiment.data.n=16",
                              "experiment.train.steps=2", "experiment.train.batch=4",
                              "experiment.model={type=\"fno\",width=4,modes=[4,4],layers=1,lifting=8,projection=8}"})
    apply_setting(options, setting);
  const auto report = run_lab("table-corruptions", options, dir.path(), torch::kCPU);
  const auto value = [&](const char* row, const char* metric) {
    return report.at("rows").at(row).get<Scores>().at(metric);
  };
  EXPECT_EQ(value("none", "between"), 0);
  EXPECT_GT(value("blurred", "between"), 0.05);
  EXPECT_EQ(value("rounded", "between"), 0);
  EXPECT_LT(value("rounded", "interface_ratio"), 0.98 * value("none", "interface_ratio"));
  EXPECT_GT(value("speckled", "islands_ratio"), value("none", "islands_ratio"));
  EXPECT_GT(value("without detail", "worst_band"), 2 * value("none", "worst_band"));
  EXPECT_NEAR(value("duplicated", "swd"), value("none", "swd"), 1);
  EXPECT_GT(value("blurred", "pde_error"), 1e6 * value("none", "pde_error"));
  EXPECT_THAT(testing::read_text(dir / "corruptions.csv"), ::testing::StartsWith("metric,none,blurred,rounded"));
  EXPECT_THAT(testing::read_text(dir / "report.md"), ::testing::HasSubstr("islands_ratio"));
  options["experiment"]["pde"]["name"] = "poisson";
  EXPECT_ERROR(run_lab("table-corruptions", options, dir / "bad", torch::kCPU), ExitCode::usage, "no two-valued");
}

}  // namespace
}  // namespace piddm
