#include "piddm/distill/consistency.h"

#include "piddm/model/weights.h"
#include "tests/distill/gaussian.h"

namespace piddm {
namespace {

constexpr uint64_t kConsistencySeed = 61;

/// The network whose map f takes every point of a Gaussian trajectory to its end.
class ConsistentNetwork : public testing::TwoParameterNetwork {
 public:
  using TwoParameterNetwork::TwoParameterNetwork;

  Tensor end(const Tensor& x, const Tensor& t) const {
    const auto s = process_->at(t), last = process_->at(torch::full_like(t, process_->t_end()));
    return last.alpha * mean_ + (x - s.alpha * mean_) * (deviation(last) / deviation(s));
  }

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override {
    const auto time = t.clamp_min(1e-4);  // at the end itself f is x whatever the network says
    const double first = process_->at(torch::full({1}, process_->t_end())).sigma.item<double>(),
                 last = process_->at(torch::ones({1})).sigma.item<double>();
    const auto w = (1 - (first / process_->at(time).sigma).square()) / (1 - std::pow(first / last, 2));
    return process_->velocity_from_clean(x, x + (end(x, time) - x) / w.clamp_min(1e-3), time);
  }

 private:
  Tensor deviation(const Schedule& s) const { return (s.alpha.square() * std_.square() + s.sigma.square()).sqrt(); }
};

class ConsistencyTest : public ::testing::TestWithParam<std::string> {
 protected:
  NetworkPtr consistent(const std::vector<float>& mean, const std::vector<float>& std) const {
    return std::make_shared<ConsistentNetwork>(teacher_.process, mean, std);
  }

  struct Trial {
    Model model;
    std::unique_ptr<Student> student;
    std::unique_ptr<Consistency> objective;
  };
  Trial trial(const std::vector<float>& mean, const std::vector<float>& std, const ConsistencyOptions& options,
              int64_t batch = 8) {
    Trial out{testing::model_of(consistent(mean, std), teacher_.process), nullptr, nullptr};
    out.student = std::make_unique<Student>(out.model);
    out.objective = std::make_unique<Consistency>(*out.student, out.model, teacher_, consistent(mean, std), pairs_,
                                                  StudentLossOptions{.lambda = 0}, options, batch, kConsistencySeed);
    return out;
  }
  double loss_of_exact(int64_t intervals) {
    return trial(testing::kMean, testing::kStd, {.intervals = intervals}).objective->loss(1).total.item<double>();
  }

  testing::TempDir folder_;
  Model teacher_ = testing::gaussian_teacher(GetParam());
  PairSource pairs_{teacher_,
                    kConsistencySeed,
                    {.steps = 20, .chunk = 16, .every = 1000, .pool = 1, .held_out = 4},
                    folder_ / "pairs"};
};

TEST_P(ConsistencyTest, TheMapIsTheIdentityAtTheEnd) {
  auto network = testing::tiny_network(3);
  const auto c = trial(testing::kMean, testing::kStd, {});
  const auto x = teacher_.latents(kConsistencySeed, Stream::latents, 0, 4);
  const torch::NoGradGuard no_grad;
  const auto t_end = static_cast<float>(teacher_.process->t_end());
  EXPECT_LT(testing::relative_error(c.objective->map(*network, x, torch::full({4}, t_end)), x), 1e-5);
  EXPECT_GT(testing::relative_error(c.objective->map(*network, x, torch::full({1}, 0.5F)), x), 1e-2);
}

TEST_P(ConsistencyTest, TheMapAtTheStartIsTheStudent) {
  const auto c = trial({0.2F, 0.3F}, {1.2F, 0.7F}, {});
  const auto e = teacher_.latents(kConsistencySeed, Stream::latents, 0, 4);
  const torch::NoGradGuard no_grad;
  EXPECT_LT(testing::relative_error(c.objective->map(*c.model.network, e, torch::ones({1})), (*c.student)(e)), 1e-5);
}

// The loss of the exact map is the error of the teacher's Heun step alone, which vanishes with the length of an
// interval.
TEST_P(ConsistencyTest, HoldsAlongExactTrajectories) {
  EXPECT_LT(loss_of_exact(40), 1e-6);
  EXPECT_LT(loss_of_exact(40), 0.02 * loss_of_exact(10));
  EXPECT_GT(trial(testing::kMean, {0.7F, 1.0F}, {.intervals = 40}).objective->loss(1).total.item<double>(),
            10 * loss_of_exact(40));
}

TEST_P(ConsistencyTest, FindsTheEndsOfTheTrajectories) {
  auto c = trial({0, 0}, {1, 1}, {.intervals = 20, .target_ema = 0.5}, 16);
  testing::train_quickly(*c.model.network, *c.objective, 400, 0.03, folder_ / "run");
  const auto found = testing::affine_parameters(c.model);
  EXPECT_LT(testing::relative_error(found.first, torch::tensor(testing::kMean)), 0.05);
  EXPECT_LT(testing::relative_error(found.second, torch::tensor(testing::kStd)), 0.05);
}

TEST_P(ConsistencyTest, TheTargetFollowsTheStudent) {
  auto c = trial({0, 0}, {1, 1}, {.target_ema = 0.75});
  load_weights(*c.model.network, {{"mean", torch::full({2, 1, 1}, 4.0F)}, {"std", torch::full({2, 1, 1}, 3.0F)}}, "");
  c.objective->advance(0);
  const auto target = c.objective->state().at("target");
  EXPECT_TRUE(torch::allclose(target.at("mean"), torch::full({2, 1, 1}, 1.0F)));
  EXPECT_TRUE(torch::allclose(target.at("std"), torch::full({2, 1, 1}, 1.5F)));
  EXPECT_ERROR(c.objective->load({}), ExitCode::data, "objective-target");
}

TEST_P(ConsistencyTest, RefusesSenselessNumbers) {
  EXPECT_ERROR(trial({0, 0}, {1, 1}, {.intervals = 1}), ExitCode::usage, "intervals");
}

INSTANTIATE_TEST_SUITE_P(Processes, ConsistencyTest, ::testing::Values("linear", "vp", "sub-vp"),
                         [](const auto& test) { return test.param == "sub-vp" ? "sub_vp" : test.param; });

}  // namespace
}  // namespace piddm
