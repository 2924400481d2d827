// Tasks and refinement through a student whose last step is a few iterations of conjugate gradients.

#include "piddm/solve/methods/piddm.h"
#include "tests/solve/methods/quick_piddm.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::kSeed;
using testing::quick;
using testing::relative_error;

Model corrected_student(int64_t iterations) {
  auto heads = testing::all_heads();
  heads.corrector = iterations;
  return testing::tiny_student(heads);
}

Tensor pde_errors(const Tensor& x) { return testing::tiny_pde()->pde_error(x.to(torch::kFloat64)); }

TEST(CorrectedStudent, GeneratesInOneEvaluation) {
  const auto plain = PiddmMethod(corrected_student(0), {}).generate(0, 4, kSeed);
  const auto corrected = PiddmMethod(corrected_student(5), {}).generate(0, 4, kSeed);
  EXPECT_EQ(corrected.nfe, 1);
  EXPECT_LT(relative_error(corrected.x.select(1, 1), plain.x.select(1, 1)), 1e-6);
  EXPECT_TRUE((pde_errors(corrected.x) < 0.01 * pde_errors(plain.x)).all().item<bool>());
}

TEST(CorrectedStudent, RefinementLowersThePdeErrorFurther) {
  const auto model = corrected_student(2);
  PiddmOptions options;
  options.refine = {LatentOptimizer::lbfgs, 12, 1};
  const auto before = pde_errors(PiddmMethod(model, {}).generate(0, 4, kSeed).x),
             after = pde_errors(PiddmMethod(model, options).generate(0, 4, kSeed).x);
  EXPECT_LT(after.mean().item<double>(), 0.9 * before.mean().item<double>());
}

// In the task inverse what is known is u, which the corrector makes of the student's a: the search follows a gradient
// that has passed its iterations.
TEST(CorrectedStudent, TasksSearchThroughTheCorrector) {
  const auto truth = testing::tiny_data(3);
  for (const auto& [task, known] : {std::pair{Task::inverse, 0}, {Task::forward, 1}}) {
    const auto observation = observe(task, truth, *testing::tiny_pde(), kSeed);
    const auto misfit = [&](int64_t steps) {
      auto options = quick(steps);
      options.hard = false;
      const auto x = PiddmMethod(corrected_student(3), options).solve(observation, kSeed).x;
      return relative_error(x.select(1, known), truth.select(1, known));
    };
    EXPECT_LT(misfit(16), 0.9 * misfit(1)) << known;
  }
}

}  // namespace
}  // namespace piddm
