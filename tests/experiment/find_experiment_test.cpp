// What stands where a preset does: presets, configs, files of PDEs, and configs that name one.

#include "piddm/core/config.h"
#include "piddm/core/toml_text.h"
#include "piddm/experiment/chosen_experiment.h"
#include "piddm/pde/pde_file.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::TempDir;
using testing::write_text;

constexpr const char* kGrowth = R"toml(
name = "growth"
equation = "dt(u) = D*lap(u) + r*u*(1 - u)"
grid = { x = [0, 2, 24, "cells"], t = [0, 1, 16] }
boundary = { x = "dn(u) = 0" }
initial = "u = u0"
parameters = { r = 2 }
coefficients = { u0 = "field: gauss(alpha=2, tau=3) -> 0.5 + 0.5*tanh(g)", D = "uniform(0.01, 0.02)" }
)toml";

class FindExperiment : public ::testing::Test {
 protected:
  FindExperiment() { write_text(folder_ / "growth.toml", kGrowth); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string file() const { return at("growth.toml"); }
  ChosenExperiment of_config(const std::string& text, const std::vector<std::string>& settings = {}) const {
    write_text(folder_ / "config.toml", text);
    return find_experiment(at("config.toml"), settings);
  }

  TempDir folder_;
};

TEST_F(FindExperiment, APresetAndAConfigStayWhatTheyWere) {
  EXPECT_EQ(write_fields(find_experiment("poisson-32", {}).experiment),
            write_fields(parse_experiment(load_config("poisson-32"))));
  const auto config = of_config("base = \"poisson-32\"\ntrain = { steps = 7 }\n");
  EXPECT_EQ(config.experiment.train.steps, 7);
  EXPECT_TRUE(config.choices.empty());
  EXPECT_TRUE(config.lines().empty());
}

TEST_F(FindExperiment, APdesFileIsAnExperimentByTheRule) {
  const auto found = find_experiment(file(), {});
  const auto& e = found.experiment;
  EXPECT_EQ(e.pde.name, "growth");
  EXPECT_EQ(e.pde.grid, GridSize(24, 16));
  EXPECT_EQ(e.pde.definition.table.at("equation"), "dt(u) = D*lap(u) + r*u*(1 - u)");
  EXPECT_EQ(e.distill.loss.lambda, 10);  // the scale of a text is such that noise has 100
  EXPECT_EQ(e.distill.loss.boundary, 1);
  EXPECT_EQ(e.distill.loss.spread, 3);
  EXPECT_TRUE(e.distill.heads.constant && e.distill.heads.constrained && e.distill.heads.band_limited);
  EXPECT_FALSE(e.distill.heads.smooth);
  EXPECT_EQ(e.distill.heads.band_modes, 0);  // u0 is a field
  EXPECT_EQ(e.solve.lambda, 1);
  EXPECT_EQ(e.solve.refine.step, 0.5);  // 384 points / (10 100)
  EXPECT_EQ(e.model.at("modes"), json({12, 8}));
  EXPECT_EQ(write_fields(find_experiment(file(), {}).experiment), write_fields(e));
}

TEST_F(FindExperiment, SettingsWin) {
  const auto e = find_experiment(file(), {"distill.loss.lambda=3", "train.steps=5", "model.modes=[4,4]", "seed=9",
                                          "pde.grid=[32,20]", "pde.parameters.r=1.5"})
                     .experiment;
  EXPECT_EQ(e.distill.loss.lambda, 3);
  EXPECT_EQ(e.train.steps, 5);
  EXPECT_EQ(e.model.at("modes"), json({4, 4}));
  EXPECT_EQ(e.seed, 9);
  EXPECT_EQ(e.pde.grid, GridSize(32, 20));
  EXPECT_EQ(make_pde(e.pde)->parameters().front().value, 1.5);
  EXPECT_EQ(e.solve.refine.step, 1);  // 640 / 1000 for the grid that was asked for, to 1, 2 or 5
  EXPECT_EQ(find_experiment(file(), {"kind=posterior"}).experiment.kind, ModelKind::posterior);
  EXPECT_ERROR(find_experiment(file(), {"distill.loss.lamda=3"}), ExitCode::usage, "did you mean 'lambda'");
  EXPECT_ERROR(find_experiment(file(), {"pde.gird=32"}), ExitCode::usage, "did you mean 'grid'");
}

TEST_F(FindExperiment, AConfigMayNameTheFileBesideIt) {
  const auto plain = find_experiment(file(), {"train.steps=5"}).experiment;
  for (const std::string pde : {"pde = { file = \"growth.toml\" }", "pde = { name = \"growth.toml\" }"}) {
    const auto found = of_config(pde + "\ntrain = { steps = 5 }\n");
    EXPECT_EQ(write_fields(found.experiment), write_fields(plain)) << pde;
    EXPECT_FALSE(found.choices.empty());
  }
  const auto grid = of_config("pde = { file = \"growth.toml\", grid = [32, 16] }\n").experiment;
  EXPECT_EQ(grid.pde.grid, GridSize(32, 16));
  EXPECT_EQ(grid.pde.name, "growth");
  EXPECT_ERROR(of_config("pde = { file = \"groth.toml\" }\n"), ExitCode::data, "groth.toml");
}

TEST_F(FindExperiment, AConfigMayHoldTheDefinition) {
  json table = parse_toml(kGrowth, "growth");
  const auto found = of_config(to_toml({{"pde", {{"definition", table}}}, {"train", {{"steps", 5}}}}));
  EXPECT_EQ(write_fields(found.experiment), write_fields(find_experiment(file(), {"train.steps=5"}).experiment));
  EXPECT_ERROR(of_config("pde = { definition = { name = \"growth\" } }\n"), ExitCode::usage,
               "pde.definition: expected the table of a PDE's file");
  table["equation"] = "dt(u) = D*lap(u) + sinn(u)";
  EXPECT_ERROR(of_config(to_toml({{"pde", {{"definition", table}}}})), ExitCode::usage, "'sin'");
}

TEST_F(FindExperiment, AConfigWithABaseIsItsOwnMaster) {
  const auto found = of_config("base = \"base/32\"\npde = { file = \"growth.toml\" }\n");
  EXPECT_TRUE(found.choices.empty());
  EXPECT_EQ(found.experiment.pde.name, "growth");
  EXPECT_EQ(found.experiment.pde.grid, 32);  // the base's
  EXPECT_EQ(found.experiment.distill.loss.lambda, parse_experiment(load_config("base/32")).distill.loss.lambda);
}

TEST_F(FindExperiment, WhatItWritesIsReadWithoutTheFile) {
  const auto e = find_experiment(file(), {}).experiment;
  std::filesystem::remove(file());
  const auto again = parse_experiment(parse_toml(to_toml(write_fields(e)), "run"));
  EXPECT_EQ(nlohmann::json(write_fields(again)), nlohmann::json(write_fields(e)));
  EXPECT_TRUE(pde_difference(again.pde, e.pde).empty());
  EXPECT_EQ(make_pde(again.pde)->channel_names(), (std::vector<std::string>{"u", "D", "u0"}));
}

TEST_F(FindExperiment, TakesTheGridOfTheUsersData) {
  auto options = pde_named(file());
  options.grid = {20, 18};
  save_dataset(at("own.npz"), make_dataset(*make_pde(options), 0, 0, 6));
  const auto own = find_experiment(file(), {}, at("own.npz")).experiment;
  EXPECT_EQ(own.pde.grid, GridSize(20, 18));
  EXPECT_EQ(own.data.path, at("own.npz"));
  EXPECT_ERROR(find_experiment(file(), {"pde.grid=16"}, at("own.npz")), ExitCode::data,
               "the data have a grid of 20x18");
}

TEST_F(FindExperiment, SaysWhatIsWrongWithAFile) {
  write_text(folder_ / "empty.toml", "name = \"nothing\"\n");
  EXPECT_ERROR(find_experiment(at("none.toml"), {}), ExitCode::data, "none.toml");
  EXPECT_ERROR(find_experiment(at("empty.toml"), {}), ExitCode::usage, "unknown key 'name'");
  EXPECT_ERROR(pde_named(at("empty.toml")), ExitCode::usage, "no PDE: it has neither `equation` nor `equations`");
  write_text(folder_ / "bad.toml", std::string(kGrowth) + "initail = 3\n");
  EXPECT_ERROR(find_experiment(at("bad.toml"), {}), ExitCode::usage, "'initial'");
}

}  // namespace
}  // namespace piddm
