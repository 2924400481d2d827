// Every method on every PDE and task: it either says why not, or gives finite samples, keeps what it must and counts
// its work.

#include "piddm/solve/methods/registry.h"
#include "tests/flux_darcy.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr int64_t kSamples = 2, kGrid = 16;

Model model_of(const PdePtr& pde, const Tensor& data, ModelKind kind) {
  Model model;
  model.kind = kind;
  model.pde = pde;
  const auto channels = static_cast<int64_t>(model.pde->channels().size());
  model.process = process_registry().at("linear")();
  model.normalizer = Normalizer::fit(data, model.pde->channels());
  model.network = make_network("fno",
                               {{"channels", channels},
                                {"modes", {4, 4}},
                                {"width", 4},
                                {"layers", 1},
                                {"lifting", 8},
                                {"projection", 8},
                                {"time_features", 8}},
                               1);
  return model;
}

/// As little work as each method can do.
json few_steps(const std::string& method) {
  if (method == "teacher" || method == "pidm") return {{"steps", 2}};
  if (method == "piddm") return {{"task", {{"iterations", 3}}}};
  if (method == "eci") return {{"steps", 2}, {"mixing", 2}};
  if (method == "cocogen") return {{"steps", 3}, {"last", 1}, {"after", 1}};
  if (method == "dflow") return {{"steps", 2}, {"task", {{"optimizer", "adam"}, {"iterations", 2}}}, {"lambda", 1.0}};
  if (method == "direct") return {{"iterations", 3}};
  if (method == "classical") return {{"accuracy", 0.05}};
  if (method == "diffusionpde") return {{"steps", 2}, {"eta", 1.0}};
  return {{"steps", 2}};
}

void check_samples(const Samples& samples, const Pde& pde, const std::string& method) {
  const std::vector<int64_t> shape{kSamples, static_cast<int64_t>(pde.channels().size()), kGrid, kGrid};
  EXPECT_EQ(samples.x.sizes().vec(), shape);
  EXPECT_TRUE(all_finite(samples.x));
  const bool network = method != "direct" && method != "classical";
  EXPECT_EQ(samples.nfe > 0, network);
}

class EveryPde : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPde, EveryMethodDoesEachTaskOrSaysWhyNot) {
  int done = 0;
  const auto pde = testing::any_pde(GetParam(), kGrid);
  const auto data = pde->sample(5, 0, 6), truth = data.narrow(0, 0, kSamples);
  for (const auto& card : method_cards()) {
    if (card.needs == ModelKind::posterior) continue;  // a network of another kind: tests/posterior
    auto model = model_of(pde, data, card.needs.value_or(ModelKind::teacher));
    if (card.name == "pidm") model.training.residual_lambda = 10;
    for (const auto task : {Task::generate, Task::forward, Task::inverse, Task::reconstruct}) {
      SCOPED_TRACE(card.name + " " + task_name(task));
      const auto reason = card.refusal(task, *model.pde);
      if (!reason.empty()) {
        EXPECT_ERROR(make_method(card.name, task, model, few_steps(card.name)), ExitCode::usage, reason);
        continue;
      }
      const auto method = make_method(card.name, task, model, few_steps(card.name));
      const auto samples = task == Task::generate ? method->generate(0, kSamples, 3)
                                                  : method->solve(observe(task, truth, *model.pde, 3), 3);
      check_samples(samples, *model.pde, card.name);
      ++done;
    }
  }
  EXPECT_GE(done, 35);
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryPde, ::testing::ValuesIn(testing::every_pde()), [](const auto& c) {
  std::string name = c.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace piddm
