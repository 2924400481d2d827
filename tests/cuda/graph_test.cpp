#include "piddm/model/weights.h"
#include "piddm/train/flow_matching.h"
#include "piddm/train/gpu_step.h"
#include "piddm/train/trainer.h"
#include "tests/cuda/gpu.h"
#include "tests/tiny.h"
#include "tests/train/toy.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::kGpu;

constexpr int64_t kSteps = 10;

struct PowerCut {};

/// Flow matching of a tiny network on the GPU, with faults.
class Faulty : public Objective {
 public:
  explicit Faulty(const Model& model)
      : flow_(*model.network, model.process,
              model.normalizer.to_network(testing::tiny_data(8)).to(kGpu, torch::kFloat32), 3, 9),
        factor_(torch::ones({}, torch::TensorOptions(kGpu))) {}

  void prepare(int64_t step) override {
    if (step == cut) throw PowerCut();
    factor_.fill_(step == bad ? NAN : 1.0);
    flow_.prepare(step);
  }
  Loss loss(int64_t step) override { return {flow_.loss(step).total * factor_, {{"factor", factor_.clone()}}}; }
  bool capturable(int64_t step) const override { return flow_.capturable(step); }

  int64_t cut = -1, bad = -1;

 private:
  FlowMatching flow_;
  Tensor factor_;
};

TrainOptions options_of_runs(bool graph) {
  auto options = testing::toy_options(kSteps);
  options.adam.ema = 0.7;
  options.log_every = 4;
  options.checkpoint_every = 4;
  options.graph = graph;
  options.precision = Precision::fp32;
  return options;
}

struct Result {
  TensorMap weights;
  std::vector<json> rows;
  TrainSummary summary;
};

Model model_on_gpu() {
  auto model = testing::tiny_teacher();
  model.network->to(kGpu);
  return model;
}

Result finish(const fs::path& folder, bool graph, int64_t cut = -1) {
  const auto model = model_on_gpu();
  Faulty objective(model);
  objective.cut = cut;
  auto run = fs::exists(folder) ? RunFolder::open(folder) : RunFolder::create(folder, json::object());
  Result result;
  result.summary = train(*model.network, objective, options_of_runs(graph), run, "run");
  result.weights = weights_of(*model.network);
  result.rows = RunFolder::read_metrics(folder);
  for (auto& row : result.rows) row.erase("seconds");
  return result;
}

void expect_equal(const TensorMap& a, const TensorMap& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) EXPECT_TRUE(torch::equal(value, b.at(name))) << name;
}

TEST(CudaTrain, ARecordedStepDoesWhatTheOperationsDo) {
  NEEDS_GPU();
  const testing::TempDir folder;
  const auto played = finish(folder / "graph", true), eager = finish(folder / "eager", false);
  expect_equal(played.weights, eager.weights);
  EXPECT_EQ(played.rows, eager.rows);
  ASSERT_EQ(played.rows.size(), 3U);  // steps 4, 8, 10
  EXPECT_EQ(played.summary.last_loss, eager.summary.last_loss);
}

TEST(CudaTrain, AgreesWithTheCpu) {
  NEEDS_GPU();
  const testing::TempDir folder;
  const auto on_gpu = finish(folder / "gpu", true);
  const auto model = testing::tiny_teacher();
  FlowMatching objective(*model.network, model.process,
                         model.normalizer.to_network(testing::tiny_data(8)).to(torch::kFloat32), 3, 9);
  auto run = RunFolder::create(folder / "cpu", json::object());
  train(*model.network, objective, options_of_runs(true), run, "cpu");
  const auto rows = RunFolder::read_metrics(folder / "cpu");
  for (size_t i = 0; i < rows.size(); ++i)
    for (const char* name : {"loss", "gradient_norm", "lr"}) {
      const double expected = rows[i].at(name);
      EXPECT_NEAR(on_gpu.rows.at(i).at(name).get<double>(), expected, 2e-3 * expected) << name << " of row " << i;
    }
}

TEST(CudaTrain, RecordsAfterTheWarmUpOnly) {
  NEEDS_GPU();
  const auto model = model_on_gpu();
  Faulty objective(model);
  Adam adam(*model.network, {});
  GpuStep step(objective, adam, true);
  for (int64_t k = 0; k < 6; ++k) {
    EXPECT_EQ(step.recorded(), k > GpuStep::kWarmup);
    step.run(k, 1e-3);
    EXPECT_GT(step.values().loss, 0);
    EXPECT_GT(step.values().gradient_norm, 0);
    EXPECT_EQ(step.values().terms.at(0).second, 1);
    EXPECT_FALSE(step.failed());
  }
}

TEST(CudaTrain, AResumedRunEndsInTheSameBits) {
  NEEDS_GPU();
  const testing::TempDir folder;
  const auto unbroken = finish(folder / "unbroken", true);
  for (const int64_t cut : {2, 4, 7, 9}) {
    const auto run = folder / fmt::format("cut-{}", cut);
    EXPECT_THROW(finish(run, true, cut), PowerCut);
    const auto resumed = finish(run, true);
    expect_equal(resumed.weights, unbroken.weights);
    EXPECT_EQ(resumed.rows, unbroken.rows);
  }
}

// Step 5 is played from the graph, and its fault is noticed at step 8; steps 6 and 7 have changed nothing.
TEST(CudaTrain, ANonFiniteLossIsNoticedLateAndLeavesTheLastGoodState) {
  NEEDS_GPU();
  for (const bool graph : {true, false}) {
    const testing::TempDir folder;
    {
      const auto model = model_on_gpu();
      Faulty objective(model);
      objective.bad = 5;
      auto run = RunFolder::create(folder / "run", json::object());
      EXPECT_ERROR(train(*model.network, objective, options_of_runs(graph), run, "bad"), ExitCode::numerics,
                   "step 5: the term 'factor' is not finite");
      EXPECT_EQ(run.checkpoints(2).latest(), std::optional<int64_t>(5));
    }
    const auto resumed = finish(folder / "run", graph), unbroken = finish(folder / "unbroken", graph);
    expect_equal(resumed.weights, unbroken.weights);
    EXPECT_EQ(resumed.rows, unbroken.rows);
  }
}

}  // namespace
}  // namespace piddm
