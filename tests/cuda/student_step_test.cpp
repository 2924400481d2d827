#include "piddm/distill/regression.h"
#include "piddm/model/weights.h"
#include "piddm/train/gpu_step.h"
#include "piddm/train/trainer.h"
#include "tests/cuda/gpu.h"
#include "tests/tiny.h"
#include "tests/train/toy.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::kGpu;

constexpr int64_t kSteps = 12, kRamp = 4, kOpposedFrom = 6, kBatch = 4;

HeadOptions sharp_heads() {
  auto heads = testing::all_heads();
  heads.sharp = true;
  heads.corrector = 2;
  return heads;
}

/// A student of a tiny teacher with everything the recorded step has to carry: fresh latents, a sharp head, the
/// corrector, physics behind a ramp and an adversary that sets in later.
struct Distillation {
  explicit Distillation(const fs::path& cache)
      : teacher(testing::tiny_teacher(1)), model(testing::tiny_student(sharp_heads(), 2)) {
    teacher.network->to(kGpu);
    model.network->to(kGpu);
    student.emplace(model, model.heads);
    pairs.emplace(teacher, 7, PairOptions{.steps = 3, .chunk = 8, .every = 5, .pool = 2, .held_out = 4}, cache);
    StudentLossOptions loss{
        .lambda = 1, .error = 1, .huber = 0.3, .spread = 1, .mean = 1, .fresh = 0.5, .physics_ramp = kRamp};
    objective.emplace(*student, model, *pairs, loss, kBatch, 11);
    const auto data = model.normalizer.to_network(testing::tiny_data(8)).to(kGpu, torch::kFloat32);
    objective->oppose(
        std::make_unique<Adversary>(data, AdversaryOptions{.weight = 0.1, .width = 4}, kOpposedFrom, kSteps, 3));
  }

  Model teacher, model;
  std::optional<Student> student;
  std::optional<PairSource> pairs;
  std::optional<Regression> objective;
};

TrainOptions options_of(bool graph) {
  auto options = testing::toy_options(kSteps);
  options.adam.lr = 1e-3;
  options.graph = graph;
  options.precision = Precision::fp32;
  return options;
}

TEST(CudaDistill, RecordsTheStepOnceItsTermsStayTheSame) {
  NEEDS_GPU();
  const testing::TempDir folder;
  Distillation d(folder.path());
  Adam adam(*d.model.network, {});
  GpuStep step(*d.objective, adam, true);
  for (int64_t k = 0; k < kSteps; ++k) {
    EXPECT_EQ(step.recorded(), k > kOpposedFrom) << k;
    step.run(k, 1e-3);
    EXPECT_GT(step.values().loss, 0);
    EXPECT_FALSE(step.failed());
    d.objective->advance(k);
  }
}

// Convolutions may sum in another order, so bits may differ.
TEST(CudaDistill, ARecordedStepOfAStudentDoesWhatTheOperationsDo) {
  NEEDS_GPU();
  const testing::TempDir folder;
  const auto trained = [&](bool graph) {
    Distillation d(folder.path());
    auto run = RunFolder::create(folder / (graph ? "graph" : "eager"), json::object());
    train(*d.model.network, *d.objective, options_of(graph), run, "run");
    return weights_of(*d.model.network);
  };
  const auto played = trained(true), eager = trained(false);
  for (const auto& [name, value] : eager)
    EXPECT_LT(testing::relative_error(played.at(name).cpu(), value.cpu()), 1e-4) << name;
  const auto rows = [&](const char* run) { return RunFolder::read_metrics(folder / run); };
  ASSERT_EQ(rows("graph").size(), static_cast<size_t>(kSteps));
  for (size_t i = 0; i < rows("graph").size(); ++i)
    for (const char* name : {"loss", "sample", "pde_error", "error"}) {
      const double expected = rows("eager")[i].at(name);
      EXPECT_NEAR(rows("graph")[i].at(name).get<double>(), expected, 1e-3 * std::abs(expected)) << name << " " << i;
    }
}

}  // namespace
}  // namespace piddm
