#include "piddm/solve/methods/teacher.h"
#include "piddm/solve/methods/registry.h"

#include "piddm/process/integrator.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

TEST(TeacherMethod, IntegratesTheVelocityInItsSteps) {
  const auto model = testing::tiny_teacher();
  const auto samples = TeacherMethod(model, {.steps = 7}).generate(3, 5, 11);
  EXPECT_EQ(samples.nfe, 7);
  EXPECT_EQ(samples.backward, 0);
  EXPECT_GT(samples.seconds_per_sample, 0);

  const torch::NoGradGuard no_grad;
  const auto field = [&](const Tensor& x, const Tensor& t) { return (*model.network)(x, t); };
  const auto z = integrate_euler(field, normal(11, Stream::latents, 3, 5, {2, 16, 16}), 7);
  EXPECT_LT(testing::relative_error(samples.x, model.normalizer.to_physical(z)), 1e-6);
}

TEST(TeacherMethod, RefusesStudentsAndNoSteps) {
  EXPECT_ERROR(TeacherMethod(testing::tiny_student(), {}), ExitCode::usage, "this model is a student");
  EXPECT_ERROR(TeacherMethod(testing::tiny_teacher(), {.steps = 0}), ExitCode::usage, "steps");
}

TEST(MethodRegistry, BuildsFromOptionsAndKnowsTheDefault) {
  EXPECT_EQ(default_method(testing::tiny_teacher()), "teacher");
  EXPECT_EQ(default_method(testing::tiny_student()), "piddm");
  const auto method = method_card("teacher").make(testing::tiny_teacher(), {{"steps", 2}});
  EXPECT_EQ(method->generate(0, 1, 0).nfe, 2);
  EXPECT_EQ(method_card("piddm").make(testing::tiny_student(), json::object())->name(), "piddm");
  EXPECT_ERROR(method_card("teacher").make(testing::tiny_teacher(), {{"stepss", 2}}), ExitCode::usage,
               "did you mean 'steps'");
  EXPECT_ERROR(method_card("pidddm"), ExitCode::usage, "did you mean 'piddm'");
}

}  // namespace
}  // namespace piddm
