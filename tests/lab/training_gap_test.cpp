#include "piddm/core/config.h"
#include "piddm/lab/lab.h"
#include "tests/testing.h"

namespace piddm {
namespace {

TEST(FigureTrainingGap, ComparesTheSameTrainingWithAndWithoutTheResidual) {
  const testing::TempDir dir;
  json options = lab_registry().at("figure-training-gap")().options(Scale::smoke);
  for (const char* setting : {"seeds=2", "windows=3", "experiment.pde.grid=16", "experiment.data.n=8",
                              "experiment.train.steps=12", "experiment.train.batch=4",
                              "experiment.model={type=\"fno\",width=4,modes=[4,4],layers=1,lifting=8,projection=8}"})
    apply_setting(options, setting);
  const auto report = run_lab("figure-training-gap", options, dir.path(), torch::kCPU);
  const auto last = [&](const char* arm, const char* key) {
    return report.at("arms").at(arm).at(key).at("mean").get<double>();
  };
  EXPECT_GT(last("plain", "diffusion"), 0);
  EXPECT_NE(last("plain", "diffusion"), last("pidm", "diffusion"));
  EXPECT_GT(last("plain", "pde_error"), 0);
  EXPECT_EQ(report.at("increase").size(), 2);
  EXPECT_TRUE(std::filesystem::exists(dir / "figure-training-gap.png"));
  EXPECT_THAT(testing::read_text(dir / "curves.csv"), ::testing::StartsWith("iteration,plain,plain_low"));

  options["experiment"]["pidm"]["lambda"] = 0;  // then both are the same training
  const auto same = run_lab("figure-training-gap", options, dir / "same", torch::kCPU);
  for (const auto& factor : same.at("increase")) EXPECT_EQ(factor.get<double>(), 1);
  options["windows"] = 100;
  EXPECT_ERROR(run_lab("figure-training-gap", options, dir / "bad", torch::kCPU), ExitCode::usage, "windows");
}

}  // namespace
}  // namespace piddm
