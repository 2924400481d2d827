// One network, one set of numbers, two implementations: tests/golden/make_samplers.py has the other, in plain PyTorch.

#include "piddm/solve/methods/dflow.h"
#include "piddm/solve/methods/diffusionpde.h"
#include "piddm/solve/methods/eci.h"
#include "piddm/solve/methods/teacher.h"
#include "tests/solve/methods/toys.h"

namespace piddm {
namespace {

// A method with the golden noise, in double.
template <class M>
class WithNoise : public M {
 public:
  using M::M;
  TensorMap golden;

 protected:
  Tensor noise(const Batch&, int64_t draw) const override {
    return draw == 0 ? golden.at("noise") : golden.at("redraws")[draw - 1];
  }
};

class Samplers : public ::testing::Test {
 protected:
  template <class M, class Options>
  Tensor solve(const Options& options) {
    WithNoise<M> method(testing::golden_teacher(golden_), options);
    method.golden = golden_;
    return method.solve({golden_.at("values"), golden_.at("mask")}, 0).x;
  }
  template <class M, class Options>
  Tensor generate(const Options& options) {
    WithNoise<M> method(testing::golden_teacher(golden_), options);
    method.golden = golden_;
    return method.generate(0, 2, 0).x;
  }
  double error(const Tensor& x, const char* name) const { return testing::relative_error(x, golden_.at(name)); }

  const TensorMap golden_ = read_npz(testing::golden("samplers.npz")).arrays;
};

constexpr double kTight = 1e-12;

TEST_F(Samplers, EciWithEveryNoise) {
  EXPECT_LT(error(solve<EciMethod>(EciOptions{.steps = 6, .mixing = 2}), "eci_fixed"), kTight);
  EXPECT_LT(error(solve<EciMethod>(EciOptions{.steps = 6, .mixing = 2, .noise = "resample:3"}), "eci_resample"),
            kTight);
  EXPECT_LT(error(generate<EciMethod>(EciOptions{.steps = 6, .mixing = 1, .noise = "ddim"}), "eci_ddim"), kTight);
}

TEST_F(Samplers, DiffusionPdeAsThePaperAndAsUpstream) {
  EXPECT_LT(
      error(solve<DiffusionPdeMethod>(DiffusionPdeOptions{{.steps = 6, .zeta = 1, .eta = 10}}), "diffusionpde_paper"),
      kTight);
  DiffusionPdeOptions upstream{{.steps = 6, .zeta = 2, .eta = 3}};
  upstream.guidance.pde_penalty = Penalty::norm;
  upstream.guidance.heun = true;
  upstream.guidance.switch_at = 0.5;
  upstream.guidance.late_factor = 0.1;
  upstream.hard = false;
  EXPECT_LT(error(solve<DiffusionPdeMethod>(upstream), "diffusionpde_upstream"), 1e-10);
}

TEST_F(Samplers, DflowsObjectiveAndGradient) {
  const auto model = testing::golden_teacher(golden_);
  for (const int64_t segment : {0, 1, 4}) {
    DflowMethod method(model, {.steps = 6, .lambda = 5, .segment = segment});
    const auto target = make_target({golden_.at("values"), golden_.at("mask")}, model, "dflow", torch::kFloat64);
    const auto [value, gradient] = method.evaluate(golden_.at("noise"), target);
    EXPECT_LT(error(value, "dflow_value"), kTight) << segment;
    EXPECT_LT(error(gradient, "dflow_gradient"), kTight) << segment;
  }
}

TEST_F(Samplers, OtherIntegratorsComeToTheSameSamples) {
  const auto error_of = [&](const TeacherOptions& options, double* nfe = nullptr) {
    const auto model = testing::golden_teacher(golden_);
    const auto samples = TeacherMethod(model, options).generate(0, 2, 11);
    if (nfe) *nfe = samples.nfe;
    return testing::relative_error(samples.x, TeacherMethod(model, {.steps = 2000}).generate(0, 2, 11).x);
  };
  const double coarse = error_of({.steps = 20});
  double nfe = 0;
  EXPECT_LT(error_of({.steps = 20, .integrator = IntegratorKind::heun}, &nfe), 0.2 * coarse);
  EXPECT_EQ(nfe, 39);
  EXPECT_LT(error_of({.integrator = IntegratorKind::adaptive}, &nfe), 0.2 * coarse);
  EXPECT_GT(nfe, 6);
}

}  // namespace
}  // namespace piddm
