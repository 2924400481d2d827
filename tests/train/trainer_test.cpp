#include "piddm/train/trainer.h"

#include <cmath>

#include "piddm/model/weights.h"
#include "piddm/train/flow_matching.h"
#include "tests/testing.h"
#include "tests/tiny.h"
#include "tests/train/toy.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::ToyModule;
using testing::ToyObjective;

struct Toy {
  ToyModule module;
  ToyObjective objective{module};
  TrainSummary train(const TrainOptions& options, RunFolder& run) {
    return piddm::train(module, objective, options, run, "toy");
  }
};

double held_out_loss(FlowMatching& objective) {
  const torch::NoGradGuard no_grad;
  double sum = 0;
  for (int64_t step = 1000; step < 1008; ++step) sum += objective.loss(step).total.item<double>() / 8;
  return sum;
}

TEST(Train, LowersTheLossOfATinyFno) {
  const testing::TempDir folder;
  const auto model = testing::tiny_teacher();
  FlowMatching objective(*model.network, model.process,
                         model.normalizer.to_network(testing::tiny_data(16)).to(torch::kFloat32), 8, 1);
  auto options = testing::toy_options(60);
  options.adam.lr = 1e-2;
  options.adam.ema = 0.9;
  options.checkpoint_every = 100;
  const double before = held_out_loss(objective);
  auto run = RunFolder::create(folder / "run", json::object());
  const auto summary = train(*model.network, objective, options, run, "tiny");
  EXPECT_LT(held_out_loss(objective), 0.85 * before);
  EXPECT_EQ(summary.steps, 60);
  EXPECT_FALSE(summary.stopped_early);
  EXPECT_GT(summary.seconds, 0);
}

TEST(Train, RecordsLossTermsRateAndNorm) {
  const testing::TempDir folder;
  auto options = testing::toy_options(10);
  options.log_every = 4;
  auto run = RunFolder::create(folder / "run", json::object());
  const auto summary = Toy().train(options, run);
  const auto rows = RunFolder::read_metrics(folder / "run");
  ASSERT_EQ(rows.size(), 3U);  // steps 4, 8 and the last
  const std::vector<int64_t> steps = {4, 8, 10};
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("step"), steps[i]);
    EXPECT_NEAR(rows[i].at("loss").get<double>(),
                rows[i].at("distance").get<double>() + rows[i].at("size").get<double>(), 1e-6);
    EXPECT_EQ(rows[i].at("lr"), learning_rate(options, steps[i] - 1));
    EXPECT_GT(rows[i].at("gradient_norm").get<double>(), 0);
  }
  EXPECT_EQ(rows.back().at("loss"), summary.last_loss);
}

TEST(Train, PreparesEveryStepOnceBeforeItsLoss) {
  const testing::TempDir folder;
  Toy toy;
  toy.objective.disturb = [&](int64_t step, Loss&) {
    ASSERT_EQ(toy.objective.prepared.size(), static_cast<size_t>(step + 1));
    EXPECT_EQ(toy.objective.prepared.back(), step);
  };
  auto run = RunFolder::create(folder / "run", json::object());
  toy.train(testing::toy_options(7), run);
  EXPECT_EQ(toy.objective.prepared.size(), 7U);
}

/// Flow matching that remembers the network's arithmetic, and can break.
class PrecisionWitness : public Objective {
 public:
  explicit PrecisionWitness(const Model& model)
      : network_(*model.network),
        flow_(network_, model.process, model.normalizer.to_network(testing::tiny_data(4)).to(torch::kFloat32), 2, 1) {}
  Loss loss(int64_t step) override {
    seen = network_.precision();
    if (broken) throw std::runtime_error("broken");
    return flow_.loss(step);
  }
  Precision seen = Precision::fp32;
  bool broken = false;

 private:
  Network& network_;
  FlowMatching flow_;
};

TEST(Train, SetsThePrecisionOfTheNetworkForItsTimeOnly) {
  const testing::TempDir folder;
  const auto model = testing::tiny_teacher();
  model.network->set_precision(Precision::tf32);
  PrecisionWitness objective(model);
  auto run = RunFolder::create(folder / "run", json::object());
  train(*model.network, objective, testing::toy_options(1), run, "tiny");
  EXPECT_EQ(objective.seen, Precision::bf16);  // the default
  EXPECT_EQ(model.network->precision(), Precision::tf32);

  auto options = testing::toy_options(2);
  options.precision = Precision::fp32;
  objective.broken = true;
  auto other = RunFolder::create(folder / "other", json::object());
  EXPECT_THROW(train(*model.network, objective, options, other, "tiny"), std::runtime_error);
  EXPECT_EQ(objective.seen, Precision::fp32);
  EXPECT_EQ(model.network->precision(), Precision::tf32);
}

TEST(Train, OptionsOfAnOlderRunAreRead) {
  auto saved = write_fields(testing::toy_options(9));
  EXPECT_EQ(saved.at("precision"), "bf16");
  saved.erase("precision");
  saved.update({{"graph", true}, {"warmup", 0.2}, {"keep_checkpoints", 2}, {"min_improvement", 1e-3}});
  TrainOptions options;
  read_fields(saved, options, "train", FormerKeys::accept);
  EXPECT_EQ(options.steps, 9);
  EXPECT_EQ(options.precision, Precision::bf16);
}

TEST(Train, LeavesTheMovingAverageInTheNetwork) {
  const testing::TempDir folder;
  auto run = RunFolder::create(folder / "run", json::object());
  Toy toy;
  toy.train(testing::toy_options(10), run);
  const auto checkpoint = run.checkpoints(2).load(10);
  for (const auto& [name, value] : weights_of(toy.module)) {
    EXPECT_TRUE(torch::equal(value, checkpoint.parts.at("ema").at(name))) << name;
    EXPECT_FALSE(torch::equal(value, checkpoint.parts.at("model").at(name))) << name;
  }
}

// Held-out losses 5, 3, 4, 3.5, ...: two looks without gain after the second end the run, and its weights are returned.
TEST(Train, StopsEarlyAndReturnsTheBestWeights) {
  const testing::TempDir folder;
  auto options = testing::toy_options(100);
  options.schedule = ScheduleKind::constant;
  options.validate_every = 3;
  options.patience = 2;
  Toy toy, shorter;
  const std::vector<double> values = {5, 3, 4, 3.5, 1, 1};
  size_t looks = 0;
  toy.objective.held_out = [&] { return values.at(looks++); };
  auto run = RunFolder::create(folder / "run", json::object());
  const auto summary = toy.train(options, run);
  EXPECT_TRUE(summary.stopped_early);
  EXPECT_EQ(summary.steps, 12);
  EXPECT_EQ(summary.best_step, 6);
  EXPECT_EQ(looks, 4U);

  options.steps = 6;
  options.validate_every = 0;
  auto short_run = RunFolder::create(folder / "short", json::object());
  shorter.train(options, short_run);
  EXPECT_TRUE(torch::equal(toy.module.first, shorter.module.first));

  options.steps = 100;
  options.validate_every = 3;
  Toy again;
  again.objective.disturb = [](int64_t, Loss&) { FAIL() << "a stopped run does not go on"; };
  EXPECT_EQ(again.train(options, run).best_step, 6);
  EXPECT_TRUE(torch::equal(toy.module.first, again.module.first));
}

TEST(Train, ResumedPatienceGoesOnWhereItWas) {
  const testing::TempDir folder;
  auto options = testing::toy_options(100);
  options.validate_every = options.checkpoint_every = 3;
  options.patience = 3;
  auto run = RunFolder::create(folder / "run", json::object());
  Toy cut, resumed;
  for (auto* toy : {&cut, &resumed}) toy->objective.held_out = [] { return 1.0; };  // the first look is the only gain
  cut.objective.disturb = [](int64_t step, Loss&) {
    if (step == 10) throw std::runtime_error("cut");  // two looks without gain
  };
  EXPECT_THROW(cut.train(options, run), std::runtime_error);
  EXPECT_EQ(resumed.train(options, run).steps, 12);
}

TEST(Train, AGainBelowTheThresholdDoesNotCount) {
  const testing::TempDir folder;
  auto options = testing::toy_options(30);
  options.validate_every = 1;
  options.patience = 4;
  Toy toy;
  double value = 1;
  toy.objective.held_out = [&] { return value *= 0.9997; };  // 0.9997^4 < 0.999: every fourth look is a gain
  auto run = RunFolder::create(folder / "run", json::object());
  const auto summary = toy.train(options, run);
  EXPECT_FALSE(summary.stopped_early);
  EXPECT_EQ(summary.best_step, 29);  // 1, 5, 9, ...
}

struct Fault {
  const char* name;
  std::function<void(Loss&)> apply;
  const char* message;
};

class NonFinite : public ::testing::TestWithParam<Fault> {};

TEST_P(NonFinite, StopsWithTheStepTheCulpritAndAGoodCheckpoint) {
  const testing::TempDir folder;
  Toy broken, resumed, unbroken;
  broken.objective.disturb = [&](int64_t step, Loss& loss) {
    if (step == 6) GetParam().apply(loss);
    if (step == 6 && std::string(GetParam().name) == "gradient")
      loss.total = loss.total + (0 * broken.module.second).sqrt().sum();  // value 0, slope 0 * infinity
  };
  auto run = RunFolder::create(folder / "run", json::object());
  EXPECT_ERROR(broken.train(testing::toy_options(12), run), ExitCode::numerics, GetParam().message);
  EXPECT_EQ(run.checkpoints(2).latest(), std::optional<int64_t>(6));
  const auto checkpoint = run.checkpoints(2).load(6);
  for (const auto& [name, value] : checkpoint.parts.at("model")) EXPECT_TRUE(all_finite(value)) << name;

  resumed.train(testing::toy_options(12), run);
  auto other = RunFolder::create(folder / "other", json::object());
  unbroken.train(testing::toy_options(12), other);
  EXPECT_TRUE(torch::equal(resumed.module.first, unbroken.module.first));
}

INSTANTIATE_TEST_SUITE_P(Train, NonFinite,
                         ::testing::Values(Fault{"loss", [](Loss& loss) { loss.total = loss.total * NAN; },
                                                 "step 6: the loss is not finite"},
                                           Fault{"term",
                                                 [](Loss& loss) {
                                                   loss.terms[1].second = torch::full({}, INFINITY);
                                                   loss.total = loss.total + loss.terms[1].second;
                                                 },
                                                 "step 6: the term 'size' is not finite"},
                                           Fault{"gradient", [](Loss&) {},
                                                 "step 6: the gradient of 'second' is not finite"},
                                           Fault{"norm", [](Loss& loss) { loss.total = loss.total * 1e30; },
                                                 "step 6: the norm of the gradient is not finite"}),
                         [](const auto& fault) { return std::string(fault.param.name); });

/// Lines, held-out losses and weights of a run whose metrics cannot be written in step 6, then continued.
TEST(Train, WritesLaterWhatADiskHadNoRoomFor) {
  const testing::TempDir folder;
  auto options = testing::toy_options(12);
  options.log_every = 3, options.validate_every = 3, options.checkpoint_every = 100;
  Toy full, resumed, unbroken;
  for (auto* toy : {&full, &resumed, &unbroken}) toy->objective.held_out = [] { return 1.0; };
  const auto metrics = folder / "run/metrics.jsonl", kept = folder / "kept";
  full.objective.disturb = [&](int64_t step, Loss&) {
    if (step != 5) return;
    fs::rename(metrics, kept);
    fs::create_directory(metrics);
  };
  auto run = RunFolder::create(folder / "run", json::object());
  EXPECT_ERROR(full.train(options, run), ExitCode::resources, "cannot open " + metrics.string());
  EXPECT_EQ(run.checkpoints(2).latest(), std::optional<int64_t>(6));
  fs::remove(metrics);
  fs::rename(kept, metrics);
  resumed.train(options, run);
  auto other = RunFolder::create(folder / "other", json::object());
  unbroken.train(options, other);
  const auto lines = [](const fs::path& path) {
    auto rows = RunFolder::read_metrics(path);
    for (auto& row : rows) row.erase("seconds");
    return rows;
  };
  EXPECT_EQ(lines(folder / "other").size(), 8U);
  EXPECT_EQ(lines(folder / "run"), lines(folder / "other"));
  EXPECT_TRUE(torch::equal(resumed.module.first, unbroken.module.first));
}

TEST(Train, StopsWhenTheFirstLossIsNotFinite) {
  const testing::TempDir folder;
  Toy toy;
  toy.objective.disturb = [](int64_t, Loss& loss) { loss.total = loss.total * NAN; };
  auto run = RunFolder::create(folder / "run", json::object());
  EXPECT_ERROR(toy.train(testing::toy_options(5), run), ExitCode::numerics, "step 0: the loss is not finite");
  EXPECT_EQ(run.checkpoints(2).latest(), std::optional<int64_t>(0));
}

TEST(Train, StopsWhenTheHeldOutLossIsNotFinite) {
  const testing::TempDir folder;
  auto options = testing::toy_options(8);
  options.validate_every = 3;
  Toy toy;
  toy.objective.held_out = [] { return NAN; };
  auto run = RunFolder::create(folder / "run", json::object());
  EXPECT_ERROR(toy.train(options, run), ExitCode::numerics, "step 3: the held-out loss is not finite");
}

TEST(Train, RefusesSenselessOptions) {
  const testing::TempDir folder;
  auto run = RunFolder::create(folder / "run", json::object());
  const auto with = [&](auto&& change) {
    auto options = testing::toy_options(3);
    change(options);
    Toy().train(options, run);
  };
  EXPECT_ERROR(with([](auto& o) { o.steps = 0; }), ExitCode::usage, "train.steps");
  EXPECT_ERROR(with([](auto& o) { o.batch = 0; }), ExitCode::usage, "train.batch");
  EXPECT_ERROR(with([](auto& o) { o.adam.lr = -1; }), ExitCode::usage, "train.adam.lr");
  EXPECT_ERROR(with([](auto& o) { o.adam.lr = NAN; }), ExitCode::usage, "train.adam.lr");
  EXPECT_ERROR(with([](auto& o) { o.adam.ema = 1; }), ExitCode::usage, "train.adam.ema");
  EXPECT_ERROR(with([](auto& o) { o.log_every = 0; }), ExitCode::usage, "log_every");
  EXPECT_ERROR(with([](auto& o) { o.patience = -1; }), ExitCode::usage, "train.patience: must not be negative, got -1");
}

TEST(Train, HandsOverTheAverageAtTheStepsAskedFor) {
  const testing::TempDir folder;
  auto options = testing::toy_options(10);
  options.schedule = ScheduleKind::constant;
  options.snapshots = {3, 10};
  std::map<int64_t, TensorMap> taken;
  const SnapshotWriter take = [&](const TrainSummary& so_far, const TensorMap& average) {
    EXPECT_GT(so_far.seconds, 0);
    taken[so_far.steps] = average;
  };
  Toy toy;
  auto run = RunFolder::create(folder / "run", json::object());
  train(toy.module, toy.objective, options, run, "toy", take);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_TRUE(torch::equal(taken.at(10).at("first"), toy.module.first));

  Toy short_one;
  options.steps = 3;
  options.snapshots = {};
  auto other = RunFolder::create(folder / "short", json::object());
  short_one.train(options, other);
  EXPECT_TRUE(torch::equal(taken.at(3).at("first"), short_one.module.first));
}

TEST(Train, HandsOverTheSameSnapshotAgainAfterAPowerCut) {
  struct PowerCut {};
  const testing::TempDir folder;
  auto options = testing::toy_options(10);  // checkpoints after 4 and 8 steps
  options.snapshots = {4, 6};
  std::map<int64_t, std::vector<Tensor>> taken;
  const SnapshotWriter take = [&](const TrainSummary& so_far, const TensorMap& average) {
    taken[so_far.steps].push_back(average.at("first").clone());
  };
  {
    Toy toy;
    toy.objective.disturb = [](int64_t step, Loss&) {
      if (step == 7) throw PowerCut();
    };
    auto run = RunFolder::create(folder / "run", json::object());
    EXPECT_THROW(train(toy.module, toy.objective, options, run, "toy", take), PowerCut);
  }
  Toy toy;
  auto run = RunFolder::open(folder / "run");
  train(toy.module, toy.objective, options, run, "toy", take);
  EXPECT_EQ(taken.at(4).size(), 1U);  // before the checkpoint it would be repeated from
  ASSERT_EQ(taken.at(6).size(), 2U);
  EXPECT_TRUE(torch::equal(taken.at(6)[0], taken.at(6)[1]));
}

TEST(Train, RefusesSnapshotsItCannotTake) {
  const testing::TempDir folder;
  auto run = RunFolder::create(folder / "run", json::object());
  auto options = testing::toy_options(10);
  for (const int64_t step : {0, 11}) {
    options.snapshots = {step};
    EXPECT_ERROR(Toy().train(options, run), ExitCode::usage, "train.snapshots");
  }
  options.snapshots = {5};
  EXPECT_ERROR(Toy().train(options, run), ExitCode::usage, "keeps none");
}

}  // namespace
}  // namespace piddm
