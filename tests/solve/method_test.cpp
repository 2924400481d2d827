#include "piddm/solve/methods/registry.h"

#include "piddm/solve/batching.h"
#include "tests/solve/methods/toys.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

TEST(MethodCards, SayWhatEachMethodIsBeforeThereIsAModel) {
  EXPECT_EQ(method_cards().size(), method_registry().entries().size());
  const auto poisson = make_pde({"poisson", 16});
  for (const char* name : {"teacher", "piddm", "eci", "diffusionpde", "cocogen", "dflow", "pidm"}) {
    const auto& card = method_card(name);
    EXPECT_THAT(card.options, ::testing::HasSubstr("batch = "));
    for (const auto task : {Task::generate, Task::forward, Task::inverse, Task::reconstruct})
      EXPECT_EQ(card.refusal(task, *poisson), "") << name;
  }
  EXPECT_EQ(method_card("piddm").needs, ModelKind::student);
  EXPECT_EQ(method_card("eci").needs, ModelKind::teacher);
  EXPECT_ERROR(method_card("ecl"), ExitCode::usage, "did you mean 'eci'");
}

TEST(MakeMethod, RefusesTheWrongKindOfModelForEveryMethodThatNeedsOne) {
  for (const auto& card : method_cards()) {
    if (!card.needs) continue;
    const auto wrong = card.needs == ModelKind::teacher ? testing::tiny_student() : testing::tiny_teacher();
    EXPECT_ERROR(make_method(card.name, Task::forward, wrong, json::object()), ExitCode::usage,
                 "[" + card.name + "] this model is a");
  }
  EXPECT_EQ(make_method("eci", Task::forward, testing::tiny_teacher(), {{"steps", 2}})->name(), "eci");
}

TEST(MakeMethod, RefusesUnsupportedTasksWithTheReason) {
  for (const auto& card : method_cards())
    for (const auto task : {Task::generate, Task::forward, Task::inverse, Task::reconstruct}) {
      const auto model = card.needs == ModelKind::student ? testing::tiny_student() : testing::tiny_teacher();
      const auto reason = card.refusal(task, *model.pde);
      if (reason.empty()) continue;
      EXPECT_ERROR(make_method(card.name, task, model, json::object()), ExitCode::usage, reason);
    }
}

TEST(Batching, FollowsMemoryUnlessAsked) {
  const auto model = testing::tiny_teacher();
  EXPECT_EQ(choose_batch(7, model, true), 7);
  EXPECT_EQ(choose_batch(0, model, false), 64);
  EXPECT_EQ(choose_batch(0, model, false, int64_t{1} << 60), 1);
  EXPECT_GT(bytes_per_sample(model, true), bytes_per_sample(model, false));
  const int64_t budget = memory_budget(torch::kCPU);
  EXPECT_GT(budget, 0);
  EXPECT_NEAR(static_cast<double>(choose_batch(0, model, false, budget / 10)), 10, 3);
  EXPECT_ERROR(choose_batch(-1, model, false), ExitCode::usage, "method.batch");
}

}  // namespace
}  // namespace piddm
