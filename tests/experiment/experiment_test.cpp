#include "piddm/experiment/experiment.h"

#include "piddm/core/config.h"
#include "piddm/core/peak_memory.h"
#include "piddm/core/toml_text.h"
#include "piddm/experiment/run_origin.h"
#include "piddm/tables/demo/demo.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

json tiny_config() {
  return parse_toml(R"(
pde = { name = "darcy", grid = 16 }
data = { n = 8 }
model = { type = "fno", width = 4, modes = [4, 4], layers = 2, lifting = 8, projection = 8 }
[train]
steps = 3
batch = 4
[distill]
pairs = { steps = 2, chunk = 4, every = 2, pool = 2, held_out = 4 }
train = { steps = 3, batch = 4, validate_every = 1 }
)",
                    "tiny");
}

TEST(Experiment, WritesItselfAndReadsItBack) {
  const auto config = write_fields(parse_experiment(tiny_config()));
  EXPECT_EQ(config.at("pde").at("grid"), 16);
  EXPECT_EQ(config.at("distill").at("train").at("validate_every"), 1);
  EXPECT_EQ(config.at("train").at("adam").at("lr"), AdamOptions().lr);
  EXPECT_EQ(write_fields(parse_experiment(parse_toml(to_toml(config), "again"))), config);
}

// The residual of a student's own output is part of its loss.
TEST(Experiment, ATeacherMayTrainInBf16AndAStudentMayNot) {
  const auto experiment = parse_experiment(tiny_config());
  EXPECT_EQ(experiment.train.precision, Precision::bf16);
  EXPECT_EQ(experiment.distill.train.precision, Precision::fp32);
}

TEST(Experiment, ThePresetsAreReadStrictly) {
  for (const auto& preset : presets()) {
    const auto config = load_config(preset.name);
    if (!config.contains("experiment")) {
      EXPECT_NO_THROW(parse_experiment(config)) << preset.name;
      continue;
    }
    DemoOptions options;
    EXPECT_NO_THROW(read_fields(config, options)) << preset.name;
  }
}

TEST(Experiment, EveryPdeHasItsPresets) {
  for (const auto& name : pde_registry().names()) {
    EXPECT_EQ(parse_experiment(load_config(name)).pde.name, name);
    EXPECT_EQ(parse_experiment(load_config(name + "-paper")).pde.name, name);
    const auto demo = parse_experiment(load_config(demo_preset(name)));
    EXPECT_EQ(demo.pde.name, name);
    EXPECT_LE(demo.pde.grid.points(), 64 * 64);
  }
  EXPECT_ERROR(demo_preset("poissno"), ExitCode::usage, "'poisson'");
}

TEST(Experiment, NamesAWrongKeyAndType) {
  const auto with = [](const std::string& setting) {
    auto config = tiny_config();
    apply_setting(config, setting);
    return parse_experiment(config);
  };
  EXPECT_ERROR(with("train.stesp=3"), ExitCode::usage, "did you mean 'steps'");
  EXPECT_ERROR(with("train.steps=many"), ExitCode::usage, "train.steps");
  EXPECT_ERROR(with("distill.loss.stop_on=totla"), ExitCode::usage, "did you mean 'total'");
  EXPECT_ERROR(with("seed=-1"), ExitCode::usage, "seed: must not be negative, got -1");
  EXPECT_ERROR(with("data.seed=-1"), ExitCode::usage, "data.seed: must not be negative, got -1");
}

TEST(Experiment, IsCheckedAsAWholeBeforeAnythingRuns) {
  const auto with = [](const std::vector<std::string>& settings) {
    return with_settings(parse_experiment(tiny_config()), settings);
  };
  EXPECT_ERROR(with({"train.adam.ema=1"}), ExitCode::usage, "train.adam.ema: must be at least 0 and below 1, got 1");
  EXPECT_ERROR(with({"train.snapshots=[4]"}), ExitCode::usage,
               "train.snapshots: must be between 1 and train.steps = 3");
  EXPECT_ERROR(with({"distill.train.snapshots=[4]"}), ExitCode::usage, "distill.train.snapshots");
  EXPECT_ERROR(with({"distill.pairs.chunk=0"}), ExitCode::usage, "distill.pairs.chunk: must be at least 1, got 0");
  EXPECT_ERROR(with({"distill.objective=dmd", "distill.dmd.warm_up=3"}), ExitCode::usage, "distill.dmd.warm_up");
  EXPECT_ERROR(with({"pde.name=stokes", "distill.loss.error=1"}), ExitCode::usage, "no fast solver");
  EXPECT_ERROR(with({"pde.name=stoks"}), ExitCode::usage, "'stokes'");
  EXPECT_ERROR(with({"process=liner"}), ExitCode::usage, "'linear'");
  EXPECT_ERROR(with({"model.modes=[3,4]"}), ExitCode::usage, "model.modes");
  EXPECT_ERROR(with({"model.type=fn"}), ExitCode::usage, "'fno'");
  EXPECT_ERROR(with({"distill.model={type=\"ffno\", witdh=3}"}), ExitCode::usage, "distill.model");
}

TEST(Experiment, NamesWhatFormerKeysAreTodayAndReadsThemWhereTheyWereStored) {
  for (const std::string key :
       {"train.adam.beta1", "train.warmup", "train.keep_checkpoints", "train.min_improvement", "train.graph",
        "pidm.walk", "pidm.watch", "distill.loss.physics_from", "distill.loss.residual_memory",
        "distill.consistency.target_ema", "distill.dmd.times"}) {
    auto config = tiny_config();
    apply_setting(config, key + "=1");
    EXPECT_ERROR(parse_experiment(config), ExitCode::usage, key + " is gone: ");
    EXPECT_EQ(write_fields(parse_experiment(config, FormerKeys::accept)), write_fields(parse_experiment(tiny_config())))
        << key;
  }
}

int64_t leaves_of(const json& table) {
  int64_t count = 0;
  for (const auto& [key, value] : table.items()) count += value.is_object() && !value.empty() ? leaves_of(value) : 1;
  return count;
}

// A key is there because a preset, a table or a page of the documentation sets it.
TEST(Experiment, HasAtMostAHundredKeys) {
  for (const auto& card : objective_cards()) {
    Experiment experiment;
    experiment.distill.choose(card.name);
    auto config = write_fields(experiment);
    config.erase("model");
    config.at("distill").erase("model");
    config.erase("posterior");  // of experiments that distil nothing
    EXPECT_LE(leaves_of(config), 100) << card.name;
  }
}

TEST(Experiment, ARunIsContinuedWithItsOwnBatchesAndSchedule) {
  const testing::TempDir folder;
  auto experiment = parse_experiment(tiny_config());
  const auto data = training_data(experiment);
  train_teacher(experiment, data, folder / "run", torch::kCPU, false);
  experiment.train.steps = 5, experiment.train.adam.lr = 1e-4, experiment.train.log_every = 1;
  EXPECT_EQ(train_teacher(experiment, data, folder / "run", torch::kCPU, true).provenance.at("steps"), 5);
  const auto refused = [&](auto&& change, const std::string& message) {
    auto other = experiment;
    change(other);
    EXPECT_ERROR(train_teacher(other, data, folder / "run", torch::kCPU, true), ExitCode::usage, message);
  };
  refused([](auto& e) { e.train.batch = 2; }, "begun with train.batch = 4, not 2");
  refused([](auto& e) { e.train.schedule = ScheduleKind::constant; }, "begun with train.schedule");
  refused([](auto& e) { e.pidm.lambda = 1; }, "begun with pidm.lambda = 0.0, not 1.0");
  auto fewer = data;
  fewer.fields = data.fields.narrow(0, 0, 4);
  EXPECT_ERROR(train_teacher(experiment, fewer, folder / "run", torch::kCPU, true), ExitCode::usage, "another data");
}

TEST(Experiment, TrainsATeacherThatLoadsAndAStudentThatKnowsIt) {
  const testing::TempDir folder;
  const auto experiment = parse_experiment(tiny_config());
  const auto data = training_data(experiment);
  EXPECT_EQ(data.size(), 8);
  const auto teacher = train_teacher(experiment, data, folder / "teacher", torch::kCPU, false);
  const auto loaded = load_model(folder / "teacher");
  EXPECT_EQ(loaded.kind, ModelKind::teacher);
  const auto student = distill_student(experiment, loaded, folder / "student", folder / "pairs", false);
  EXPECT_EQ(load_model(folder / "student" / "model").kind, ModelKind::student);
  EXPECT_EQ(student.provenance.at("teacher").at("experiment"), teacher.provenance.at("experiment"));
  EXPECT_EQ(student.provenance.at("steps"), 3);
  EXPECT_EQ(student.training.lambda, experiment.distill.loss.lambda);
  EXPECT_EQ(student.training.solve, write_fields(experiment.solve));
  EXPECT_EQ(teacher.training.solve, json::object());
  EXPECT_GT(student.training.seconds, teacher.training.seconds);
  EXPECT_GT(teacher.training.seconds, 0);
  for (const char* run : {"teacher", "student"}) EXPECT_TRUE(std::filesystem::exists(folder / run / "curves.png"));
  EXPECT_ERROR(distill_student(experiment, student, folder / "again", folder / "pairs", false), ExitCode::usage,
               "starts from a teacher");
  EXPECT_ERROR(train_teacher(experiment, data, folder / "teacher", torch::kCPU, false), ExitCode::usage,
               "already holds a run");
}

TEST(Experiment, KeepsTheTeacherAtSeveralAges) {
  const testing::TempDir folder;
  auto experiment = parse_experiment(tiny_config());
  experiment.train.schedule = ScheduleKind::constant;
  experiment.train.snapshots = {1, 3};
  const auto data = training_data(experiment);
  const auto at_the_end = train_teacher(experiment, data, folder / "run", torch::kCPU, false);
  experiment.train.steps = 1;
  experiment.train.snapshots = {};
  const auto young = train_teacher(experiment, data, folder / "young", torch::kCPU, false);
  const auto kept = [&](const char* step) { return load_model(folder / "run" / "snapshots" / step); };
  EXPECT_TRUE(torch::equal(kept("1").network->parameters()[0], young.network->parameters()[0]));
  EXPECT_TRUE(torch::equal(kept("3").network->parameters()[0], at_the_end.network->parameters()[0]));
  EXPECT_FALSE(torch::equal(kept("1").network->parameters()[0], kept("3").network->parameters()[0]));
  EXPECT_EQ(kept("1").provenance.at("steps"), 1);
  EXPECT_EQ(kept("1").kind, ModelKind::teacher);
}

TEST(Experiment, RefusesDataThatDoNotFit) {
  const testing::TempDir folder;
  auto experiment = parse_experiment(tiny_config());
  const auto data = training_data(experiment);
  auto one = data;
  one.fields = data.fields.narrow(0, 0, 1);
  EXPECT_ERROR(train_teacher(experiment, one, folder / "run", torch::kCPU, false), ExitCode::data,
               "at least 2 samples");
  experiment.pde.grid = 32;
  EXPECT_ERROR(train_teacher(experiment, data, folder / "run", torch::kCPU, false), ExitCode::data, "16");
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST(RunOrigin, EverySampleOfTheDataCounts) {
  const testing::TempDir folder;
  const auto experiment = parse_experiment(tiny_config());
  auto data = testing::tiny_data(5);
  const auto begun = origin_of_teacher(data);
  open_run(folder / "run", begun, experiment, false);
  EXPECT_NO_THROW(open_run(folder / "run", begun, experiment, true));
  data[2][1][3][4] += 1e-12;
  EXPECT_ERROR(open_run(folder / "run", origin_of_teacher(data), experiment, true), ExitCode::usage,
               "was begun with another data");
}

// Up to 0.2.0 origin.json had the digest of the first and the last sample only, and no format.
TEST(RunOrigin, ThatOfAnEarlierVersionIsComparedAsItWas) {
  const testing::TempDir folder;
  const auto experiment = parse_experiment(tiny_config());
  auto data = testing::tiny_data(5);
  open_run(folder / "run", origin_of_teacher(data), experiment, false);
  const json earlier = {{"kind", "teacher"}, {"data", origin_of_teacher(data).data}, {"teacher", ""}};
  testing::write_text(folder / "run/origin.json", earlier.dump(2));
  EXPECT_NO_THROW(open_run(folder / "run", origin_of_teacher(data), experiment, true));
  data[4][0][0][0] += 1;
  EXPECT_ERROR(open_run(folder / "run", origin_of_teacher(data), experiment, true), ExitCode::usage,
               "was begun with another data");
}

TEST(Experiment, DataWithNothingToLearnAreRefusedBeforeTraining) {
  const testing::TempDir folder;
  const auto experiment = parse_experiment(tiny_config());
  const auto pde = make_pde(experiment.pde);
  for (const double value : {0.0, 2.5}) {
    const Dataset constant{.channels = pde->channel_names(), .fields = torch::full({8, 2, 16, 16}, value)};
    EXPECT_ERROR(train_teacher(experiment, constant, folder / "run", torch::kCPU, false), ExitCode::data,
                 fmt::format("channel 'u' has the value {} everywhere", value));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  auto data = training_data(experiment);
  data.fields.select(1, 1).fill_(3);  // a coefficient kept constant on purpose
  EXPECT_NO_THROW(train_teacher(experiment, data, folder / "run", torch::kCPU, false));
}

TEST(Experiment, ALargeNetworkIsCheckedWithoutItsWeights) {
  auto config = tiny_config();
  config["model"]["lifting"] = 65536;
  config["model"]["width"] = 2048;
  const PeakMemory peak(torch::kCPU);
  EXPECT_NO_THROW(parse_experiment(config));
  EXPECT_LT(peak.mib(), 256);  // its weights take more than 1 GiB
  config["model"]["layers"] = 1000;
  EXPECT_ERROR(parse_experiment(config), ExitCode::usage, "more than 2147483648 parameters");
}

TEST(Experiment, WhatCannotFitIntoMemoryIsRefusedWithTheOptionToLower) {
  auto experiment = parse_experiment(tiny_config());
  EXPECT_NO_THROW(check_training_memory(experiment, torch::kCPU));
  experiment.train.batch = 1'000'000'000;
  EXPECT_ERROR(check_training_memory(experiment, torch::kCPU), ExitCode::resources, "train.batch = 1000000000: takes");
  experiment.train.batch = 4;
  experiment.data.n = 1'000'000'000;
  EXPECT_ERROR(check_training_memory(experiment, torch::kCPU), ExitCode::resources, "data.n = 1000000000: takes");
  const auto teacher = testing::tiny_teacher();
  EXPECT_NO_THROW(check_distillation_memory(experiment, teacher));
  experiment.distill.pairs.held_out = 1'000'000'000;
  EXPECT_ERROR(check_distillation_memory(experiment, teacher), ExitCode::resources, "distill.pairs.held_out = ");
  experiment.distill.train.batch = 1'000'000'000;
  EXPECT_ERROR(check_distillation_memory(experiment, teacher), ExitCode::resources, "distill.train.batch = ");
}

}  // namespace
}  // namespace piddm
