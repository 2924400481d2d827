#include "piddm/process/gaussian_mixture.h"

#include "piddm/core/json_text.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::gradient_error;
using testing::relative_error;

ProcessPtr process_of(const std::string& name) { return process_registry().at(name)(); }

Tensor vector_of(const json& values) { return torch::tensor(values.get<std::vector<double>>(), torch::kFloat64); }

Tensor matrix_of(const json& rows) {
  std::vector<Tensor> out;
  for (const auto& row : rows) out.push_back(vector_of(row));
  return torch::stack(out);
}

/// tests/golden/make_mixture.py: "full" and "degenerate" (a point and a plane), three dimensions.
const json& golden_cases() {
  static const json content = parse_json(testing::read_text(testing::golden("mixture.json")), "mixture.json");
  return content;
}

GaussianMixture golden_mixture(const std::string& name) {
  std::vector<GaussianComponent> components;
  for (const auto& c : golden_cases().at("mixtures").at(name))
    components.push_back({c.at("weight").get<double>(), vector_of(c.at("mean")), matrix_of(c.at("covariance"))});
  return GaussianMixture(components);
}

Tensor eye(int64_t n) { return torch::eye(n, torch::kFloat64); }

GaussianMixture two_lines() {
  const auto flat = torch::diag(torch::tensor({0.04, 0.0}, torch::kFloat64));
  return GaussianMixture(
      {{1, torch::tensor({-1.0, -1.0}, torch::kFloat64), flat}, {1, torch::tensor({1.0, 1.0}, torch::kFloat64), flat}});
}

TEST(GaussianMixture, AgreesWithDenseLinearAlgebra) {
  for (const auto& c : golden_cases().at("cases")) {
    const auto law = golden_mixture(c.at("mixture").get<std::string>());
    const auto process = process_of(c.at("process").get<std::string>());
    const auto t = torch::full({1}, c.at("t").get<double>(), torch::kFloat64);
    const auto x = vector_of(c.at("x")).view({1, 3, 1, 1});
    const auto p = law.posterior(x, t, *process);
    EXPECT_NEAR(p.log_density.item<double>(), c.at("log_density").get<double>(), 1e-10);
    EXPECT_LT(relative_error(p.clean.flatten(), vector_of(c.at("clean"))), 1e-10) << c;
    EXPECT_LT(relative_error(law.score(x, t, *process).flatten(), vector_of(c.at("score"))), 1e-10) << c;
    EXPECT_LT(relative_error(law.velocity(x, t, *process).flatten(), vector_of(c.at("velocity"))), 1e-8) << c;
    const auto s = process->at(t);
    const auto schedule = torch::cat({s.alpha, s.sigma, s.d_alpha, s.d_sigma}).flatten();
    EXPECT_LT(relative_error(schedule, vector_of(c.at("schedule"))), 1e-8) << c;
  }
}

TEST(GaussianMixture, ScoreIsTheGradientOfTheLogDensity) {
  for (const auto& name : process_registry().names()) {
    const auto process = process_of(name);
    const auto law = golden_mixture("full");
    const auto t = torch::tensor({0.1, 0.5, 0.9, 1.0}, torch::kFloat64);
    const auto x = torch::randn({4, 3, 1, 1}, torch::kFloat64).requires_grad_(true);
    const auto gradient = torch::autograd::grad({law.posterior(x, t, *process).log_density.sum()}, {x})[0];
    EXPECT_LT(relative_error(law.score(x, t, *process), gradient), 1e-11) << name;
  }
}

TEST(GaussianMixture, ConversionsOfTheProcessGiveTheSameVelocity) {
  for (const auto& name : process_registry().names()) {
    const auto process = process_of(name);
    const auto law = two_lines();
    const auto t = torch::tensor({0.05, 0.5, 0.99}, torch::kFloat64);
    const auto x = torch::randn({3, 2, 1, 1}, torch::kFloat64);
    const auto v = law.velocity(x, t, *process);
    const auto p = law.posterior(x, t, *process);
    EXPECT_LT(relative_error(process->velocity_from_clean(x, p.clean, t), v), 1e-12) << name;
    EXPECT_LT(relative_error(process->velocity_from_noise(x, p.noise, t), v), 1e-12) << name;
    EXPECT_LT(relative_error(process->velocity_from_score(x, law.score(x, t, *process), t), v), 1e-12) << name;
    EXPECT_LT(relative_error(process->clean(x, v, t), p.clean), 1e-12) << name;
  }
}

TEST(GaussianMixture, PosteriorIsDifferentiable) {
  const auto law = golden_mixture("degenerate");
  const auto process = process_of("linear");
  const auto t = torch::full({1}, 0.5, torch::kFloat64);
  const auto loss = [&](const Tensor& x) { return law.posterior(x, t, *process).clean.pow(3).sum(); };
  EXPECT_LT(gradient_error(loss, torch::randn({2, 3, 1, 1}, torch::kFloat64)), 1e-6);
}

TEST(GaussianMixture, IsFiniteAtBothEndsEvenForPointMasses) {
  for (const auto& name : process_registry().names()) {
    const auto process = process_of(name);
    const auto x = two_lines().sample(1, Stream::coefficients, 0, 64);
    for (const double t : {process->t_end(), 1.0}) {
      const auto v = two_lines().velocity(x.to(torch::kFloat32), torch::full({1}, t), *process);
      EXPECT_TRUE(all_finite(v)) << name << " at " << t;
      EXPECT_EQ(v.scalar_type(), torch::kFloat32);
    }
  }
}

TEST(GaussianMixture, AtTheDataEndThePosteriorIsTheSample) {
  const auto law = golden_mixture("degenerate");
  const auto x = law.sample(4, Stream::coefficients, 0, 20);
  const auto p = law.posterior(x, torch::zeros({1}, torch::kFloat64), *process_of("linear"));
  EXPECT_LT(relative_error(p.clean, x), 1e-10);
}

TEST(GaussianMixture, SamplesHaveTheLawsMoments) {
  constexpr int64_t kDraws = 200000;
  const auto law = golden_mixture("degenerate");
  const auto x = law.sample(2, Stream::coefficients, 0, kDraws).view({kDraws, 3});
  const auto w = law.weights().unsqueeze(1);
  const auto mean = (w * law.means()).sum(0);
  const auto centred = law.means() - mean;
  const auto covariance = (w.unsqueeze(2) * (law.covariances() + centred.unsqueeze(2) * centred.unsqueeze(1))).sum(0);
  const auto deviation = covariance.diag().sqrt() / std::sqrt(static_cast<double>(kDraws));
  EXPECT_TRUE(((x.mean(0) - mean).abs() < 5 * deviation).all().item<bool>());
  EXPECT_LT(relative_error(x.t().cov(), covariance), 0.02);
  EXPECT_TRUE(
      law.sample(2, Stream::coefficients, 10, 5).equal(law.sample(2, Stream::coefficients, 0, 15).narrow(0, 10, 5)));
}

TEST(GaussianMixture, ComponentsAndMarginalsAreTheirOwnLaws) {
  const auto law = golden_mixture("full");
  const auto part = law.component(1);
  EXPECT_EQ(part.components(), 1);
  EXPECT_LT(relative_error(part.covariances()[0], law.covariances()[1]), 1e-14);
  const auto a = torch::tensor({1.0, -2.0, 0.5}, torch::kFloat64);
  const auto line = law.marginal(a);
  EXPECT_LT(relative_error(line.means().flatten(), law.means().matmul(a)), 1e-14);
  EXPECT_LT(relative_error(line.covariances().flatten(), law.covariances().matmul(a).matmul(a)), 1e-12);
}

TEST(GaussianMixture, RefusesWhatIsNoLaw) {
  const auto mean = torch::zeros({2}, torch::kFloat64);
  const auto negative = torch::diag(torch::tensor({1.0, -0.1}, torch::kFloat64));
  EXPECT_ERROR(GaussianMixture({{1, mean, negative}}), ExitCode::data, "negative eigenvalue -0.1");
  EXPECT_ERROR(GaussianMixture({{0, mean, eye(2)}}), ExitCode::data, "weights must be positive");
  EXPECT_ERROR(GaussianMixture({{1, mean, eye(3)}}), ExitCode::data, "expected a covariance (2,2), got (3,3)");
  const GaussianMixture law({{1, mean, eye(2)}});
  EXPECT_ERROR(law.velocity(torch::zeros({1, 3, 1, 1}), torch::ones({1}), *process_of("vp")), ExitCode::data,
               "expected (B,C,H,W) with 2 entries a sample, got (1,3,1,1)");
}

}  // namespace
}  // namespace piddm
