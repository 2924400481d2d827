#include "piddm/solve/methods/registry.h"

#include "piddm/core/peak_memory.h"
#include "piddm/solve/batching.h"
#include "tests/solve/methods/toys.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

TEST(MethodCards, SayWhatEachMethodIsBeforeThereIsAModel) {
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

TEST(MethodCards, CountEvaluationsFromTheMethodsOwnOptions) {
  const auto count = [](const char* method, const json& options, Task task) {
    const auto [forward, gradient] = method_card(method).evaluations(options, task);
    return std::pair{forward, gradient};
  };
  using Pair = std::pair<double, double>;
  EXPECT_EQ(count("teacher", json::object(), Task::generate), Pair(100, 0));
  EXPECT_EQ(count("teacher", {{"steps", 5}, {"integrator", "heun"}}, Task::generate), Pair(10, 0));
  EXPECT_EQ(count("pidm", {{"steps", 5}, {"integrator", "heun"}}, Task::forward), Pair(0, 5));
  EXPECT_EQ(count("piddm", json::object(), Task::generate), Pair(1, 0));
  EXPECT_EQ(count("piddm", {{"starts", 3}}, Task::inverse), Pair(1, 240));
  EXPECT_EQ(count("eci", json::object(), Task::generate), Pair(500, 0));
  EXPECT_EQ(count("diffusionpde", {{"batch", 4}}, Task::forward), Pair(0, 100));
  EXPECT_EQ(count("dflow", {{"steps", 10}}, Task::forward), Pair(0, 1.3 * 10 * 50));
  EXPECT_EQ(count("cocogen", {{"steps", 30}}, Task::generate), Pair(30, 0));
  EXPECT_EQ(count("pcfm", {{"precision", "bf16"}}, Task::forward), Pair(100, 0));
  EXPECT_EQ(count("classical", json::object(), Task::forward), Pair(0, 0));
  EXPECT_ERROR(count("teacher", {{"stps", 5}}, Task::generate), ExitCode::usage, "did you mean 'steps'");
}

TEST(MethodCards, StayWithinANumberOfEvaluationsAndUseMostOfThem) {
  auto teacher = testing::tiny_teacher();
  teacher.training.residual_lambda = 1;  // for pidm
  const auto student = testing::tiny_student();
  const auto x = testing::tiny_data(1);
  for (const auto& card : method_cards())
    for (const Task task : {Task::generate, Task::reconstruct})
      for (const int64_t most : {9, 20}) {
        const auto options = card.within(json::object(), task, most);
        if (card.needs == ModelKind::posterior) {
          EXPECT_EQ(card.evaluations(*options, task).forward, task == Task::generate ? 1 : most);
          continue;
        }
        if (!options) {
          EXPECT_TRUE(card.name == "direct" || card.name == "classical") << card.name;
          continue;
        }
        const auto method = card.make(card.needs == ModelKind::student ? student : teacher, *options);
        const auto samples =
            task == Task::generate ? method->generate(0, 1, 0) : method->solve(observe(task, x, *teacher.pde, 0), 0);
        EXPECT_LE(samples.nfe, static_cast<double>(most)) << card.name;
        EXPECT_GT(samples.nfe, 0.5 * static_cast<double>(most)) << card.name;
      }
  EXPECT_EQ(method_card("piddm").within(json::object(), Task::generate, 1), std::optional(json::object()));
  EXPECT_EQ(method_card("eci").within({{"mixing", 2}}, Task::generate, 9)->at("steps"), 4);
}

TEST(MethodCards, MatchThePapersComputeAsAShareOfWhatIsAsked) {
  const auto matched = [](const char* method, const json& options) { return method_card(method).matched(options); };
  EXPECT_EQ(matched("eci", json::object()), (json{{"mixing", 3}}));
  EXPECT_EQ(matched("eci", {{"steps", 7}, {"mixing", 1}}), (json{{"steps", 7}, {"mixing", 1}}));
  EXPECT_EQ(matched("pidm", {{"precision", "bf16"}}), (json{{"precision", "bf16"}, {"steps", 300}}));
  EXPECT_EQ(matched("diffusionpde", json::object()), (json{{"steps", 80}}));
  EXPECT_EQ(matched("dflow", {{"task", {{"step", 0.1}}}}), (json{{"task", {{"step", 0.1}, {"iterations", 20}}}}));
  for (const char* method : {"teacher", "piddm", "cocogen", "pcfm", "direct", "classical"})
    EXPECT_EQ(matched(method, json::object()), json::object()) << method;
}

TEST(MethodCards, GiveEveryMethodTheSamePrecisionAndAsLargeABatchAsMemoryAllows) {
  for (const auto& card : method_cards()) {
    EXPECT_THAT(card.options, ::testing::HasSubstr("precision = \"fp32\"")) << card.name;
    if (!card.needs) continue;
    EXPECT_THAT(card.options, ::testing::HasSubstr("batch = 0")) << card.name;
  }
}

TEST(Methods, SayInWhichPrecisionTheyRan) {
  const auto model = testing::tiny_teacher();
  const auto method = make_method("teacher", Task::generate, model, {{"precision", "bf16"}, {"steps", 2}});
  EXPECT_EQ(model.network->precision(), Precision::bf16);
  EXPECT_EQ(method->generate(0, 1, 1).precision, "fp32");  // what a CPU does
}

TEST(MethodCards, SayWhichMethodIsSlowAndWhichIsAModelsOwn) {
  for (const auto& card : method_cards()) {
    EXPECT_EQ(card.slow, card.name == "dflow") << card.name;
    EXPECT_EQ(card.own, card.name == "teacher" || card.name == "piddm" || card.name == "amortised") << card.name;
  }
  EXPECT_EQ(own_method(ModelKind::teacher), "teacher");
  EXPECT_EQ(default_method(testing::tiny_student()), "piddm");
}

TEST(DefaultOptions, AreThoseThatSuitTheStudent) {
  auto student = testing::tiny_student();
  EXPECT_EQ(default_options("piddm", student), json::object());
  student.training.solve = {{"lambda", 3.0}, {"refine", {{"step", 0.5}}}, {"batch", 32}};  // batch: as stored before
  const auto options = default_options("piddm", student);
  EXPECT_EQ(options.at("lambda"), 3.0);
  EXPECT_EQ(options.at("refine").at("step"), 0.5);
  EXPECT_EQ(options.at("refine").at("optimizer"), "gd");
  EXPECT_FALSE(options.contains("batch"));
  EXPECT_EQ(make_method("piddm", Task::generate, student, options)->generate(0, 1, 0).nfe, 1);
  EXPECT_EQ(default_options("classical", student), json::object());
  EXPECT_EQ(default_options("piddm", json{{"lambda", 3.0}}).at("lambda"), 3.0);
}

TEST(MethodOptions, SayWhatBecameOfFormerKeys) {
  const auto check = [](const char* method, const json& options) { method_card(method).check(options); };
  EXPECT_ERROR(check("teacher", {{"euler_steps", 5}}), ExitCode::usage, "teacher.euler_steps is now teacher.steps");
  EXPECT_ERROR(check("pidm", {{"euler_steps", 5}}), ExitCode::usage, "pidm.euler_steps is now pidm.steps");
  EXPECT_ERROR(check("pcfm", {{"final_cg", 5}}), ExitCode::usage, "pcfm.final_cg is gone");
  EXPECT_ERROR(check("direct", {{"optimizer", "adam"}}), ExitCode::usage, "direct.optimizer is gone");
  EXPECT_ERROR(check("classical", {{"darcy", {{"cg", 5}}}}), ExitCode::usage, "classical.darcy is gone");
  EXPECT_ERROR(check("eci", {{"batch", -1}}), ExitCode::usage, "batch: must not be negative, got -1");
  EXPECT_ERROR(check("diffusionpde", {{"switch_at", 2}}), ExitCode::usage, "diffusionpde.switch_at");
  EXPECT_EQ(method_card("teacher").renewed({{"euler_steps", 5}}).at("steps"), 5);
}

TEST(MakeMethod, RefusesTheWrongKindOfModelForEveryMethodThatNeedsOne) {
  for (const auto& card : method_cards()) {
    if (!card.needs) continue;
    const auto wrong = card.needs == ModelKind::teacher ? testing::tiny_student() : testing::tiny_teacher();
    EXPECT_ERROR(make_method(card.name, Task::forward, wrong, json::object()), ExitCode::usage,
                 "[" + card.name + "] this model is " + (card.needs == ModelKind::posterior ? "no posterior" : "a"));
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
  EXPECT_GT(model.bytes_per_sample(true), model.bytes_per_sample(false));
  const int64_t budget = memory_budget(torch::kCPU);
  EXPECT_GT(budget, 0);
  EXPECT_NEAR(static_cast<double>(choose_batch(0, model, false, budget / 10)), 10, 3);
}

TEST(Methods, SamplesThatAreHandedOverAreThoseOfTheWholeSet) {
  for (const auto& [name, options] : std::vector<std::pair<std::string, json>>{
           {"piddm", {{"batch", 3}}}, {"teacher", {{"batch", 3}, {"integrator", "adaptive"}}}}) {
    const auto model = name == "piddm" ? testing::tiny_student() : testing::tiny_teacher();
    const auto method = make_method(name, Task::generate, model, options);
    const auto whole = method->generate(5, 8, 7);
    std::vector<Tensor> parts;
    double nfe = 0;
    method->generate(5, 8, 7, [&](Samples& samples) {
      parts.push_back(samples.x);
      nfe += samples.nfe * static_cast<double>(samples.x.size(0)) / 8;
    });
    EXPECT_EQ(parts.size(), 3U) << name;
    EXPECT_TRUE(torch::equal(torch::cat(parts), whole.x)) << name;
    EXPECT_NEAR(nfe, whole.nfe, 1e-9 * whole.nfe) << name;
  }
}

TEST(Methods, SamplesThatAreHandedOverTakeNoMoreMemoryForMoreOfThem) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer keeps memory that was given back";
#endif
  const auto method = make_method("piddm", Task::generate, testing::tiny_student(), {{"batch", 64}});
  const auto make = [&](int64_t n) {
    const PeakMemory memory(torch::kCPU);
    method->generate(0, n, 7, [](Samples&) {});
    return memory.mib();
  };
  make(64);
  EXPECT_LT(make(10240), 10);  // 20 MiB of samples
}

TEST(Methods, ABatchBeyondMemoryIsRefused) {
  const auto method = make_method("piddm", Task::generate, testing::tiny_student(), {{"batch", 1'000'000'000}});
  EXPECT_NO_THROW(method->generate(0, 2, 7));  // there are only two
  EXPECT_ERROR(method->generate(0, 1'000'000'000, 7, [](Samples&) {}), ExitCode::resources,
               "batch = 1000000000: takes");
}

}  // namespace
}  // namespace piddm
