#include "piddm/experiment/experiment.h"
#include "piddm/model/weights.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;

Experiment quick(const std::string& objective) {
  Experiment experiment;
  experiment.pde = {"darcy", testing::kTinyGrid};
  auto& o = experiment.distill;
  o.choose(objective);
  if (auto* dmd = std::get_if<DmdOptions>(&o.own)) dmd->warm_up = std::min<int64_t>(dmd->warm_up, 2);
  if (auto* reflow = std::get_if<ReflowOptions>(&o.own)) *reflow = {.steps = 4, .batch = 3, .validate_every = 2};
  if (auto* consistency = std::get_if<ConsistencyOptions>(&o.own)) consistency->intervals = 4;
  o.pairs = {.steps = 3, .chunk = 4, .every = 3, .pool = 2, .held_out = 3};
  o.train.steps = 4;
  o.train.batch = 3;
  o.train.log_every = 1;
  o.train.checkpoint_every = o.train.validate_every = 2;
  return experiment;
}

/// The distillation of a tiny teacher with the VP process, by name of its folder.
class DistillVariants : public ::testing::Test {
 protected:
  Model distil(const std::string& objective, const std::string& name, bool resume = false) {
    auto teacher = testing::tiny_teacher();
    teacher.process = process_registry().at("vp")();
    return distill_student(quick(objective), teacher, folder_ / name, folder_ / (name + "-pairs"), resume);
  }
  TensorMap weights(const std::string& run) { return weights_of(*load_model(folder_ / run).network); }
  testing::TempDir folder_;
};

bool equal(const TensorMap& a, const TensorMap& b) {
  return std::all_of(a.begin(), a.end(), [&](const auto& e) { return torch::equal(e.second, b.at(e.first)); });
}

TEST_F(DistillVariants, MakeAStudentEach) {
  for (const auto& card : objective_cards()) {
    const auto& name = card.name;
    const auto student = distil(name, name);
    EXPECT_EQ(student.kind, ModelKind::student) << name;
    EXPECT_EQ(student.process->name(), card.rounds > 0 ? "linear" : "vp") << name;
    EXPECT_EQ(student.provenance.at("experiment").at("distill").at("objective"), name);
    EXPECT_TRUE(fs::exists(folder_ / name / "curves.png")) << name;
    EXPECT_EQ(equal(weights(name), weights("regression")), name == "regression") << name;
  }
}

TEST_F(DistillVariants, ReflowComesInRoundsThatCanBeResumed) {
  const auto student = distil("reflow2", "whole");
  for (const std::string round : {"whole/reflow-1", "whole/reflow-2"}) {
    const auto model = load_model(folder_ / round);
    EXPECT_EQ(model.kind, ModelKind::teacher);
    EXPECT_EQ(model.process->name(), "linear");
  }
  EXPECT_FALSE(equal(weights("whole/reflow-1"), weights("whole/reflow-2")));

  distil("reflow2", "again");
  fs::remove_all(folder_ / "again" / "reflow-2");
  fs::remove_all(folder_ / "again" / "checkpoints");
  EXPECT_TRUE(equal(weights_of(*distil("reflow2", "again", true).network), weights_of(*student.network)));
}

TEST_F(DistillVariants, AStudentWithANetworkOfItsOwnLearnsAndIsFoundAgain) {
  auto experiment = quick("regression");
  auto& o = experiment.distill;
  o.model = {{"type", "ffno"}, {"modes", {4, 4}}, {"width", 8}, {"layers", 2}, {"time_features", 8}};
  o.loss.lambda = 0;
  o.pairs = {.steps = 3, .chunk = 32, .every = 1000, .held_out = 16};
  o.train.steps = 80;
  o.train.batch = 16;
  o.train.validate_every = o.train.checkpoint_every = 20;
  o.train.adam = {.lr = 1e-2, .ema = 0.9};
  const auto student = distill_student(experiment, testing::tiny_teacher(), folder_ / "own", folder_ / "pairs", false);
  std::vector<double> held_out;
  for (const auto& row : RunFolder::read_metrics(folder_ / "own"))
    if (row.contains("held_out")) held_out.push_back(row.at("held_out"));
  ASSERT_EQ(held_out.size(), 4U);
  EXPECT_LT(held_out.back(), 0.7 * held_out.front());

  const auto loaded = load_model(folder_ / "own");
  EXPECT_EQ(loaded.network->type(), "ffno");
  const torch::NoGradGuard no_grad;
  const auto e = loaded.latents(1, Stream::latents, 0, 2);
  EXPECT_TRUE(torch::equal(Student(loaded)(e), Student(student)(e)));
}

TEST_F(DistillVariants, ANetworkThatDoesNotFitIsNoticedBeforeAnythingRuns) {
  EXPECT_ERROR(parse_experiment({{"distill", {{"model", {{"type", "ffno"}, {"modes", {3, 4}}}}}}}), ExitCode::usage,
               "distill.model: model.modes");
  auto experiment = quick("reflow");
  experiment.distill.model = {{"type", "mlp"}};
  EXPECT_ERROR(distill_student(experiment, testing::tiny_teacher(), folder_ / "run", folder_ / "pairs", false),
               ExitCode::data, "model.points");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(DistillVariants, AWrongNameIsNoticedBeforeAnythingRuns) {
  EXPECT_ERROR(parse_experiment({{"distill", {{"objective", "reflwo"}}}}), ExitCode::usage, "'reflow'");
}

}  // namespace
}  // namespace piddm
