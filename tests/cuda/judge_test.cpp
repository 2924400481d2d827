// A judge that computes on the GPU finds what one on the CPU finds.

#include <cmath>

#include "piddm/eval/evaluate.h"
#include "tests/cuda/gpu.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::kGpu;

constexpr Bootstrap kBootstrap = {20, 3};

struct Case {
  std::string pde;
  int64_t grid;
};

class JudgeOnGpu : public ::testing::TestWithParam<Case> {
 protected:
  Judge judge(torch::Device device) const {
    Judge made(pde, normalizer, truth, truth.mean(0), device, 16);
    Model teacher;
    teacher.pde = pde;
    teacher.normalizer = normalizer;
    teacher.network = testing::tiny_network(1);
    teacher.network->to(device);
    made.add(teacher_metric(teacher, *pde));
    return made;
  }

  static Samples noisy(const Tensor& x, uint64_t seed) {
    const auto noise = normal(seed, Stream::noise, 0, x.size(0), x.sizes().slice(1).vec(), torch::kFloat64);
    return {x + 0.02 * x.abs().mean({0, 2, 3}, true) * noise, 3, 2, 0.5};
  }

  Samples generated() const { return noisy(pde->sample(5, 5000, 32), 1); }

  const PdePtr pde = make_pde({GetParam().pde, GetParam().grid});
  const Tensor truth = pde->sample(5, 1000, 40);
  const Normalizer normalizer = Normalizer::fit(truth, pde->channels());
};

/// Relative 1e-8, below 1e-11 (round-off of true data) absolute; 1e-2 for distances in the features of a float32
/// network, which lose digits by cancellation.
void expect_same(const json& got, const json& want) {
  const json values = got.flatten(), expected = want.flatten();
  ASSERT_EQ(values.size(), expected.size());
  for (const auto& [key, entry] : expected.items()) {
    const double value = entry.get<double>(), relative = key.find("frechet") == std::string::npos ? 1e-8 : 1e-2;
    EXPECT_NEAR(values.at(key).get<double>(), value, relative * std::abs(value) + 1e-11) << key;
  }
}

TEST_P(JudgeOnGpu, SamplesScoreTheSame) {
  NEEDS_GPU();
  const auto cpu = judge(torch::kCPU), gpu = judge(kGpu);
  auto samples = generated();
  const auto want = cpu.samples(samples, kBootstrap);
  expect_same(gpu.samples(samples, kBootstrap), want);
  samples.x = samples.x.to(kGpu);
  expect_same(gpu.samples(samples, kBootstrap), want);
  expect_same(cpu.samples(samples, kBootstrap), want);
}

TEST_P(JudgeOnGpu, TasksAndEnsemblesScoreTheSame) {
  NEEDS_GPU();
  const auto cpu = judge(torch::kCPU), gpu = judge(kGpu);
  const auto part = truth.narrow(0, 0, 32);
  const std::vector<Samples> members = {noisy(part, 1), noisy(part, 2), noisy(part, 3)};
  for (const auto task : {Task::forward, Task::inverse, Task::reconstruct}) {
    const auto seen = observe(task, part, *pde, 3);
    expect_same(gpu.task(members[0], part, seen, kBootstrap), cpu.task(members[0], part, seen, kBootstrap));
    expect_same(gpu.ensemble(members, part, seen, kBootstrap), cpu.ensemble(members, part, seen, kBootstrap));
  }
}

TEST_P(JudgeOnGpu, FloorsAreTheSame) {
  NEEDS_GPU();
  const auto cpu = judge(torch::kCPU), gpu = judge(kGpu);
  expect_same(gpu.floor(16, 2), cpu.floor(16, 2));
  expect_same(gpu.floor(64, 2), cpu.floor(64, 2));
}

INSTANTIATE_TEST_SUITE_P(Pdes, JudgeOnGpu, ::testing::Values(Case{"darcy", 32}, Case{"burgers", 64}),
                         [](const auto& test) { return test.param.pde; });

TEST(ClassifierOnGpu, IsAFunctionOfFieldsAndRecipe) {
  NEEDS_GPU();
  const auto fake = normal(1, Stream::noise, 0, 128, {2, 32, 48}).to(kGpu);
  const auto truth = normal(2, Stream::noise, 0, 128, {2, 32, 48}).to(kGpu);
  constexpr ClassifierRecipe kRecipe{.width = 8, .steps = 60, .batch = 16};
  const auto smooth = (fake + fake.roll(1, 2)) / std::sqrt(2.0);
  const auto answers = told_apart(smooth, truth, kRecipe);
  EXPECT_GT(answers.mean().item<double>(), 0.95);
  EXPECT_TRUE(torch::equal(answers, told_apart(smooth, truth, kRecipe)));
  EXPECT_TRUE(torch::equal(told_apart(fake, truth, kRecipe), told_apart(fake, truth, kRecipe)));
}

}  // namespace
}  // namespace piddm
