// A Gaussian law with linear observations: the posterior is known, so the bias of a sampler is a number.

#include "piddm/solve/methods/diffusionpde.h"
#include "piddm/solve/methods/eci.h"
#include "piddm/solve/methods/teacher.h"
#include "tests/solve/methods/toys.h"

namespace piddm {
namespace {

using testing::GaussianLaw;

constexpr int64_t kGaussianSamples = 200, kObserved = 128, kSteps = 100;
constexpr uint64_t kGaussianSeed = 3;

// Entries 0..127 of the law are observed, the same values for all samples.
struct GaussianProblem {
  GaussianLaw law = GaussianLaw::make();
  Tensor observed;          // [128]
  Tensor mean, covariance;  // of the other entries given these
  Observation observation;

  GaussianProblem() {
    const auto s = law.covariance();
    const auto truth =
        law.mean +
        (law.variance.sqrt() * normal(9, Stream::latents, 0, 1, {512}, torch::kFloat64)[0]).matmul(law.basis.t());
    observed = truth.narrow(0, 0, kObserved).to(torch::kFloat32).to(torch::kFloat64);
    const auto oo = s.narrow(0, 0, kObserved).narrow(1, 0, kObserved),
               uo = s.slice(0, kObserved).narrow(1, 0, kObserved);
    const auto gain = torch::linalg_solve(oo, uo.t().contiguous()).t();
    mean = law.mean.slice(0, kObserved) + gain.matmul(observed - law.mean.narrow(0, 0, kObserved));
    covariance = s.slice(0, kObserved).slice(1, kObserved) - gain.matmul(uo.t());
    auto values = torch::zeros({kGaussianSamples, 512}), mask = torch::zeros({kGaussianSamples, 512});
    values.narrow(1, 0, kObserved).copy_(observed.expand({kGaussianSamples, kObserved}));
    mask.narrow(1, 0, kObserved).fill_(1);
    observation = {values.view({kGaussianSamples, 2, 16, 16}), mask.view({kGaussianSamples, 2, 16, 16})};
  }
};

const GaussianProblem& problem() {
  static const GaussianProblem p;
  return p;
}

struct Moments {
  double mean_error;  // RMS over entries, in posterior standard deviations
  double variance;    // mean over entries, share of the exact
};

Moments against_posterior(const Tensor& x) {
  const auto unknown = x.flatten(1).to(torch::kFloat64).slice(1, kObserved);
  const auto exact = problem().covariance.diagonal();
  const auto error = (unknown.mean(0) - problem().mean) / exact.sqrt();
  return {error.square().mean().sqrt().item<double>(), (unknown.var(0) / exact).mean().item<double>()};
}

double prior_mean_error() {
  const auto error = (problem().law.mean.slice(0, kObserved) - problem().mean) / problem().covariance.diagonal().sqrt();
  return error.square().mean().sqrt().item<double>();
}

// `newton` = 1 would be a whole Newton step where x0^ moves with x.
Samples posterior_sampling(int64_t steps, double newton) {
  DiffusionPdeOptions options{{.steps = steps, .zeta = newton * kObserved / 2, .eta = 0}};
  options.guidance.data_penalty = Penalty::square;
  return DiffusionPdeMethod(testing::gaussian_teacher(problem().law), options)
      .solve(problem().observation, kGaussianSeed);
}

// With the misfit squared each step is an affine map with known matrices.
TEST(Gaussian, PosteriorSamplingIsTheAffineRecursionOfItsFormula) {
  const auto& law = problem().law;
  auto rows = normal(kGaussianSeed, Stream::tasks, 0, kGaussianSamples, {512}).to(torch::kFloat64);
  auto pull = torch::zeros_like(rows);
  for (int64_t k = 0; k < 12; ++k) {
    const double t = 1 - k / 12.0;
    const auto clean = law.clean(rows, 1 - t, t);
    pull.narrow(1, 0, kObserved).copy_(clean.narrow(1, 0, kObserved) - problem().observed);
    rows = rows - (rows - clean) / (t * 12) - 0.5 * law.jacobian(pull, 1 - t, t);
  }
  rows.narrow(1, 0, kObserved).copy_(problem().observed.expand({kGaussianSamples, kObserved}));
  EXPECT_LT(testing::relative_error(posterior_sampling(12, 0.5).x.flatten(1), rows), 1e-5);
}

// The bias of posterior-mean guidance: a weight that finds the mean loses some of the spread, and one that meets the
// observations to 1e-3 loses both.
TEST(Gaussian, PosteriorSamplingIsBiased) {
  const auto gentle = against_posterior(posterior_sampling(kSteps, 0.1).x);
  EXPECT_LT(gentle.mean_error, 0.3 * prior_mean_error());
  EXPECT_GT(gentle.variance, 0.86);
  EXPECT_LT(gentle.variance, 0.97);
  const auto strong = against_posterior(posterior_sampling(kSteps, 0.5).x);
  EXPECT_GT(strong.mean_error, 1.5 * gentle.mean_error);
  EXPECT_LT(strong.variance, 0.85);
}

TEST(Gaussian, TheTeacherHasTheLawsMoments) {
  const auto& law = problem().law;
  const auto x = TeacherMethod(testing::gaussian_teacher(law), {})
                     .generate(0, kGaussianSamples, kGaussianSeed)
                     .x.flatten(1)
                     .to(torch::kFloat64);
  const auto spread = (x.var(0) / law.covariance().diagonal()).mean().item<double>();
  EXPECT_NEAR(spread, 1, 0.05);
  const auto z = (x.mean(0) - law.mean) / (law.covariance().diagonal() / kGaussianSamples).sqrt();
  EXPECT_NEAR(z.square().mean().item<double>(), 1, 0.3);
}

TEST(Gaussian, EciMeetsItsConstraintToRoundOff) {
  for (const char* noise : {"fixed", "resample:5", "ddim"}) {
    EciOptions options{.steps = 20, .mixing = 2, .noise = noise, .constraint = "none"};
    const auto model = testing::gaussian_teacher(problem().law);
    const auto x = EciMethod(model, options).solve(problem().observation, kGaussianSeed).x.flatten(1);
    EXPECT_TRUE(
        torch::equal(x.narrow(1, 0, kObserved), problem().observation.values.flatten(1).narrow(1, 0, kObserved)))
        << noise;
    EXPECT_LT(against_posterior(x).mean_error, prior_mean_error()) << noise;
  }
}

}  // namespace
}  // namespace piddm
