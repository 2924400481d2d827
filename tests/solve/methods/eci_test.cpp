#include "piddm/solve/methods/eci.h"

#include "piddm/solve/methods/teacher.h"
#include "tests/solve/methods/toys.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr uint64_t kEciSeed = 11;

EciOptions quick(const std::string& noise) { return {.steps = 4, .mixing = 2, .noise = noise}; }

TEST(Eci, WithoutConstraintItsDdimStepsAreEulersSteps) {
  const auto model = testing::tiny_teacher();
  const auto x =
      EciMethod(model, {.steps = 7, .mixing = 1, .noise = "ddim", .constraint = "none"}).generate(2, 3, kEciSeed);
  const auto plain = TeacherMethod(model, {.steps = 7}).generate(2, 3, kEciSeed);
  EXPECT_LT(testing::relative_error(x.x, plain.x), 1e-5);
  EXPECT_EQ(x.nfe, 7);
}

TEST(Eci, ImposesThePdesConstraintUnderEveryProcess) {
  for (const char* process : {"linear", "vp", "sub-vp"}) {
    auto model = testing::tiny_teacher();
    model.process = process_registry().at(process)();
    const auto x = EciMethod(model, quick("fixed")).generate(0, 2, kEciSeed).x;
    EXPECT_LT(testing::relative_error(model.pde->constrain(x), x), 1e-6) << process;
    const auto free = TeacherMethod(model, {.steps = 4}).generate(0, 2, kEciSeed).x;
    EXPECT_GT(testing::relative_error(model.pde->constrain(free), free), 1e-4) << process;
  }
}

TEST(Eci, ImposesAGivenConstraint) {
  auto options = quick("fixed");
  options.constraint = {{"kind", "slice"}, {"channel", "u"}, {"axis", "x"}, {"index", 3}, {"value", 0.25}};
  const auto x = EciMethod(testing::tiny_teacher(), options).generate(0, 2, kEciSeed).x;
  EXPECT_LT((x.select(1, 0).select(1, 3) - 0.25).abs().max().item<double>(), 1e-6);
}

TEST(Eci, ReturnsWhatWasObservedAndLeavesBatchesAlone) {
  const auto model = testing::tiny_teacher();
  const auto truth = testing::tiny_data(3).to(torch::kFloat32);
  const auto observation = observe(Task::reconstruct, truth, *model.pde, kEciSeed);
  for (const char* noise : {"fixed", "resample:3", "ddim"}) {
    auto options = quick(noise);
    const auto whole = EciMethod(model, options).solve(observation, kEciSeed).x;
    EXPECT_LT(testing::relative_error(observation.mask * whole, observation.mask * truth), 1e-6) << noise;
    options.batch = 2;
    EXPECT_LT(testing::relative_error(EciMethod(model, options).solve(observation, kEciSeed).x, whole), 1e-5) << noise;
  }
}

TEST(Eci, CountsThePapersEvaluations) {
  for (const auto& [mixing, nfe] : {std::pair{5, 500}, {3, 300}}) {
    const auto samples = EciMethod(testing::idle_teacher(), {.mixing = mixing}).generate(0, 2, kEciSeed);
    EXPECT_EQ(samples.nfe, nfe);
    EXPECT_EQ(samples.backward, 0);
  }
}

TEST(Eci, RefusesStudentsAndSenselessOptions) {
  EXPECT_ERROR(EciMethod(testing::tiny_student(), {}), ExitCode::usage, "[eci] this model is a student");
  const auto make = [](const EciOptions& options) { EciMethod(testing::idle_teacher(), options); };
  EXPECT_ERROR(make({.steps = 0}), ExitCode::usage, "steps");
  EXPECT_ERROR(make({.mixing = 0}), ExitCode::usage, "mixing");
  EXPECT_ERROR(make({.noise = "resample:x"}), ExitCode::usage, "expected resample:K");
  EXPECT_ERROR(make({.noise = "dim"}), ExitCode::usage, "did you mean 'ddim'");
  EXPECT_ERROR(make({.constraint = "walls"}), ExitCode::usage, "constraint");
  EXPECT_ERROR(make({.batch = -1}), ExitCode::usage, "batch");
}

}  // namespace
}  // namespace piddm
