// Methods whose steps are pulled towards something: teacher (tasks), pidm, diffusionpde, cocogen.

#include "piddm/solve/methods/cocogen.h"
#include "piddm/solve/methods/diffusionpde.h"
#include "piddm/solve/methods/equation_rows.h"
#include "piddm/solve/methods/pidm.h"
#include "tests/flux_darcy.h"
#include "tests/solve/methods/small_model.h"
#include "tests/solve/methods/toys.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr uint64_t kGuidedSeed = 11;

Tensor truth() { return testing::tiny_data(3).to(torch::kFloat32); }

double pde_error(const Tensor& x) {
  return testing::tiny_pde()->pde_error(x.to(torch::kFloat64)).mean().item<double>();
}

Tensor misfit(const Tensor& x, const Observation& o, const Model& model) {
  const auto d = model.normalizer.to_network(x) - model.normalizer.to_network(o.values);
  return (o.mask * d.square()).sum({1, 2, 3}) / o.mask.sum({1, 2, 3});
}

TEST(TeacherMethod, IsPulledTowardsObservations) {
  const auto model = testing::tiny_teacher();
  const auto observation = observe(Task::reconstruct, truth(), *model.pde, kGuidedSeed);
  const auto free = TeacherMethod(model, {.steps = 20, .zeta = 0, .hard = false}).solve(observation, kGuidedSeed);
  const auto pulled = TeacherMethod(model, {.steps = 20, .zeta = 1, .hard = false}).solve(observation, kGuidedSeed);
  EXPECT_TRUE((misfit(pulled.x, observation, model) < 0.5 * misfit(free.x, observation, model)).all().item<bool>());
  EXPECT_EQ(free.backward, 0);
  EXPECT_EQ(pulled.nfe, 20);
  EXPECT_EQ(pulled.backward, 20);
  const auto hard = TeacherMethod(model, {.steps = 20}).solve(observation, kGuidedSeed).x;
  EXPECT_LT(testing::relative_error(observation.mask * hard, observation.mask * truth()), 1e-6);
}

TEST(DiffusionPde, LowersTheResidualUnderEveryProcess) {
  for (const char* process : {"linear", "vp", "sub-vp"}) {
    auto model = testing::tiny_teacher();
    model.process = process_registry().at(process)();
    const auto free = DiffusionPdeMethod(model, {{.steps = 10, .eta = 0}}).generate(0, 3, kGuidedSeed);
    const auto guided = DiffusionPdeMethod(model, {{.steps = 10, .eta = 0.02}}).generate(0, 3, kGuidedSeed);
    EXPECT_LT(pde_error(guided.x), 0.97 * pde_error(free.x)) << process;
    EXPECT_EQ(guided.backward, 10);
    EXPECT_EQ(free.backward, 0);
  }
}

TEST(DiffusionPde, CountsThePapersEvaluationsAndHeunsTwo) {
  const auto count = [](DiffusionPdeOptions options) {
    options.guidance.eta = 1e-3;
    return DiffusionPdeMethod(testing::idle_teacher(), options).generate(0, 2, kGuidedSeed);
  };
  for (const int64_t steps : {100, 80}) {
    EXPECT_EQ(count({{.steps = steps}}).nfe, steps);
    EXPECT_EQ(count({{.steps = steps}}).backward, steps);
  }
  EXPECT_EQ(count({{.steps = 10, .heun = true}}).nfe, 19);
  EXPECT_EQ(count({{.steps = 10, .switch_at = 0.8}}).backward, 2);
}

TEST(DiffusionPde, ADivergingSampleKeepsItsBestEstimate) {
  const auto model = testing::tiny_teacher();
  const auto samples = DiffusionPdeMethod(model, {{.steps = 10, .eta = 1e9}}).generate(0, 2, kGuidedSeed);
  EXPECT_TRUE(all_finite(samples.x));
  EXPECT_EQ(samples.nfe, 10);
  // the first estimate is the best: after it everything is lost
  const auto one = DiffusionPdeMethod(model, {{.steps = 1, .eta = 0}}).generate(0, 2, kGuidedSeed).x;
  EXPECT_LT(testing::relative_error(samples.x, one), 1e-5);
}

TEST(DiffusionPde, HasAWeightOfItsOwnWhateverTheStudentsIs) {
  auto model = testing::tiny_teacher();
  model.training.lambda = 40;
  const DiffusionPdeMethod usual(model, {{.steps = 3}});
  model.training.lambda = 0.02;
  EXPECT_EQ(DiffusionPdeMethod(model, {{.steps = 3}}).eta(), usual.eta());
  const double curvature = EquationRows(model.pde, model.normalizer).curvature();
  EXPECT_NEAR(usual.eta() * curvature, 0.25, 1e-12);
  EXPECT_EQ(DiffusionPdeMethod(model, {{.steps = 3, .eta = 3}}).eta(), 3);
}

// The objective along its steepest direction at the mean of the data: the method's own step goes down, one beyond
// twice the inverse of the curvature goes up.
TEST(DiffusionPde, ItsOwnWeightDoesNotOvershootOnAnyPde) {
  for (const auto& name : testing::every_pde()) {
    const auto model = testing::small_model(testing::any_pde(name, 16));
    const double eta = DiffusionPdeMethod(model, {{.steps = 3}}).eta();
    ASSERT_GT(eta, 0) << name;
    const auto x = model.normalizer.to_network(model.pde->sample(7, 0, 4));
    const auto z = (x + 0.1 * normal(3, Stream::noise, 0, 4, x.sizes().slice(1).vec(), torch::kFloat64));
    const auto leaf = z.detach().requires_grad_();
    const auto before = residual_norm(model, leaf, 0);
    const auto slope = torch::autograd::grad({before.sum()}, {leaf})[0];
    const auto after = residual_norm(model, z - eta * slope, 0);
    EXPECT_TRUE((after < before).all().item<bool>()) << name;
    const auto too_far = residual_norm(model, z - 100 * eta * slope, 0);
    EXPECT_TRUE((too_far > before).any().item<bool>()) << name;
  }
}

TEST(Cocogen, CorrectsTheSolutionOnly) {
  const auto model = testing::tiny_teacher();
  const CocogenOptions off{.steps = 8, .last = 0, .after = 0},
      after{.steps = 8, .last = 0, .after = 5, .correction = 1e-3};
  const auto plain = CocogenMethod(model, off).generate(0, 3, kGuidedSeed),
             corrected = CocogenMethod(model, after).generate(0, 3, kGuidedSeed);
  const auto moved = model.normalizer.to_network(corrected.x) - model.normalizer.to_network(plain.x);
  EXPECT_LT(moved.select(1, 1).abs().max().item<double>(), 1e-5);
  EXPECT_LE(moved.select(1, 0).abs().max().item<double>(), 5 * 1e-3 * 1.001);
  EXPECT_GT(moved.select(1, 0).abs().max().item<double>(), 1e-3);
  EXPECT_LT(pde_error(corrected.x), pde_error(plain.x));
  EXPECT_EQ(corrected.nfe, 8);
  EXPECT_EQ(corrected.backward, 0);
  EXPECT_LT(testing::relative_error(plain.x, TeacherMethod(model, {.steps = 8}).generate(0, 3, kGuidedSeed).x), 1e-6);
  const auto late =
      CocogenMethod(model, {.steps = 8, .last = 4, .after = 0, .correction = 1e-3}).generate(0, 3, kGuidedSeed);
  EXPECT_LT(pde_error(late.x), pde_error(plain.x));
}

TEST(Cocogen, ImputesWhatWasObserved) {
  const auto model = testing::tiny_teacher();
  const auto observation = observe(Task::reconstruct, truth(), *model.pde, kGuidedSeed);
  const auto x = CocogenMethod(model, {.steps = 8, .last = 2, .after = 2}).solve(observation, kGuidedSeed).x;
  EXPECT_LT(testing::relative_error(observation.mask * x, observation.mask * truth()), 1e-6);
}

TEST(Pidm, SamplesLikeItsTeacherAndRefusesAnother) {
  auto model = testing::tiny_teacher();
  EXPECT_ERROR(PidmMethod(model, {}), ExitCode::usage, "trained without a residual");
  model.training.residual_lambda = 1;
  PidmMethodOptions options;
  options.steps = 6;
  PidmMethod method(model, options);
  EXPECT_EQ(method.name(), "pidm");
  EXPECT_TRUE(torch::equal(method.generate(0, 2, kGuidedSeed).x,
                           TeacherMethod(model, {.steps = 6}).generate(0, 2, kGuidedSeed).x));
  options.steps = 300;
  auto idle = testing::idle_teacher();
  idle.training = model.training;
  EXPECT_EQ(PidmMethod(idle, options).generate(0, 2, kGuidedSeed).nfe, 300);
}

TEST(Guided, RefuseStudentsAndSenselessOptions) {
  const auto student = testing::tiny_student();
  EXPECT_ERROR(DiffusionPdeMethod(student, {}), ExitCode::usage, "[diffusionpde] this model is a student");
  EXPECT_ERROR(CocogenMethod(student, {}), ExitCode::usage, "[cocogen] this model is a student");
  EXPECT_ERROR(PidmMethod(student, {}), ExitCode::usage, "[pidm] this model is a student");
  EXPECT_ERROR(DiffusionPdeMethod(testing::idle_teacher(), {{.switch_at = 2}}), ExitCode::usage, "switch_at");
  EXPECT_ERROR(CocogenMethod(testing::idle_teacher(), {.steps = 3, .last = 4}), ExitCode::usage, "last");
}

}  // namespace
}  // namespace piddm
