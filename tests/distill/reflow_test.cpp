#include "piddm/distill/reflow.h"

#include "tests/distill/gaussian.h"

namespace piddm {
namespace {

constexpr uint64_t kReflowSeed = 41;
constexpr int64_t kEuler = 40;

PairOptions pairs_of_a_round() { return {.steps = kEuler, .chunk = 16, .every = 1000, .pool = 1, .held_out = 8}; }

/// Straight lines from e to mean + std e.
class StraightNetwork : public testing::TwoParameterNetwork {
 public:
  using TwoParameterNetwork::TwoParameterNetwork;

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override {
    const auto s = process_->at(t);
    const auto e = (x - s.alpha * mean_) / (s.alpha * std_ + s.sigma);
    return e - mean_ - std_ * e;
  }
};

constexpr int64_t kBatchOfARound = 16;

// Noise and data are drawn independently for the teacher: its lines cross, and one step from any e ends in the mean.
// The coupling by its ODE does not cross: one round of reflow finds straight lines, and one step makes the whole law.
TEST(Reflow, StraightensACrossingCoupling) {
  const testing::TempDir folder;
  const auto teacher = testing::gaussian_teacher("linear");
  PairSource pairs(teacher, kReflowSeed, pairs_of_a_round(), folder / "pairs");
  auto model = teacher;
  model.network =
      std::make_shared<StraightNetwork>(teacher.process, std::vector<float>{0, 0}, std::vector<float>{1, 1});
  Reflow objective(*model.network, pairs, kBatchOfARound, kReflowSeed);
  const double before = objective.validate().value();
  testing::train_quickly(*model.network, objective, 300, 0.03, folder / "run");
  EXPECT_LT(objective.validate().value(), 1e-4 * before);

  const auto [offset, slope] = testing::end_of_euler(teacher, kEuler);
  const auto found = testing::affine_parameters(model);
  EXPECT_LT(testing::relative_error(found.first, offset), 2e-3);
  EXPECT_LT(testing::relative_error(found.second, slope), 2e-3);

  const auto latents = teacher.latents(kReflowSeed, Stream::latents, 0, 8);
  EXPECT_GT(straightness(teacher, latents, 20), 0.05);
  EXPECT_LT(straightness(model, latents, 20), 1e-4);
  const auto spread = [&](const Model& m) {
    return sample_teacher(m, latents, {.steps = 1}, "one step").transpose(0, 1).flatten(1).std(1);
  };
  EXPECT_LT(spread(teacher).max().item<double>(), 1e-5);
  EXPECT_LT(testing::relative_error(spread(model), torch::tensor(testing::kStd)), 0.05);
}

// The ends of a VP teacher's trajectories are learned on straight lines all the same.
TEST(Reflow, TakesTheLinesOfAnyProcess) {
  const testing::TempDir folder;
  const auto linear = process_registry().at("linear")();
  for (const std::string process : {"vp", "sub-vp"}) {
    const auto teacher = testing::gaussian_teacher(process);
    PairSource pairs(teacher, kReflowSeed, pairs_of_a_round(), folder / process);
    const auto [offset, slope] = testing::end_of_euler(teacher, kEuler);
    const auto as_vector = [](const Tensor& x) { return std::vector<float>{x[0].item<float>(), x[1].item<float>()}; };
    StraightNetwork exact(linear, as_vector(offset), as_vector(slope)), wrong(linear, as_vector(offset), {1, 1});
    EXPECT_LT(Reflow(exact, pairs, kBatchOfARound, kReflowSeed).loss(3).total.item<double>(), 1e-8) << process;
    EXPECT_GT(Reflow(wrong, pairs, kBatchOfARound, kReflowSeed).loss(3).total.item<double>(), 1e-3) << process;
  }
}

TEST(Reflow, DrawsTimesNearBothEnds) {
  const auto u = (torch::arange(0, 1000, torch::kFloat64) + 0.5) / 1000;
  const auto t = Reflow::time(u);
  EXPECT_TRUE(torch::allclose(torch::sinh(4 * (2 * t - 1)), std::sinh(4.0) * (2 * u - 1)));  // the integral of cosh
  EXPECT_GT(t.min().item<double>(), 0);
  EXPECT_LT(t.max().item<double>(), 1);
  EXPECT_GT(((t - 0.5).abs() > 0.4).to(torch::kFloat64).mean().item<double>(), 0.5);
}

TEST(Reflow, ARoundTrainsByItsOwnNumbersAndRecordsLikeTheStudent) {
  TrainOptions student;
  student.checkpoint_every = 7, student.log_every = 3, student.batch = 99;
  student.precision = Precision::fp32, student.schedule = ScheduleKind::constant;
  const auto round = training_of_round({.steps = 40, .batch = 8, .lr = 0.1, .ema = 0.5, .validate_every = 5}, student);
  EXPECT_EQ(write_fields(round).dump(), write_fields(TrainOptions{.steps = 40,
                                                                  .batch = 8,
                                                                  .adam = {.lr = 0.1, .ema = 0.5},
                                                                  .log_every = 3,
                                                                  .checkpoint_every = 7,
                                                                  .validate_every = 5})
                                            .dump());
}

}  // namespace
}  // namespace piddm
