#include "piddm/experiment/experiment.h"

#include "piddm/core/config.h"
#include "piddm/tables/demo.h"
#include "piddm/tables/paper.h"
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
pairs = { euler_steps = 2, chunk = 4, every = 2, pool = 2, held_out = 4 }
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
    EXPECT_LE(demo.pde.grid, 64);
    EXPECT_TRUE(paper_generative_rows(name).is_object()) << name;
  }
  EXPECT_TRUE(paper_generative_rows("mine").is_null());
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
  EXPECT_ERROR(with("seed=-1"), ExitCode::usage, "seeds must not be negative");
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

}  // namespace
}  // namespace piddm
