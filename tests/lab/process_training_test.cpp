// A teacher learns under every process: an MLP trained by flow matching on a Gaussian mixture approaches the exact
// velocity.

#include "piddm/lab/distance.h"
#include "piddm/model/mlp.h"
#include "piddm/train/flow_matching.h"
#include "tests/testing.h"

namespace piddm {
namespace {

class TeacherUnder : public ::testing::TestWithParam<std::string> {
 protected:
  static GaussianMixture two_points() {
    const auto spread = 0.09 * torch::eye(2, torch::kFloat64);
    return GaussianMixture({{1, torch::tensor({-1.0, -0.5}, torch::kFloat64), spread},
                            {1, torch::tensor({1.0, 0.5}, torch::kFloat64), spread}});
  }
};

TEST_P(TeacherUnder, FlowMatchingApproachesTheExactVelocityAndSamplesTheLaw) {
  constexpr int64_t kSamples = 4096, kCheck = 2000;
  const auto process = process_registry().at(GetParam())();
  const auto law = two_points();
  Mlp network({.width = 64}, 1);
  FlowMatching objective(network, process, law.sample(1, Stream::coefficients, 0, kSamples).to(torch::kFloat32), 512,
                         1);
  testing::TempDir dir;
  auto run = RunFolder::create(dir / "run", json::object());
  TrainOptions options;
  options.steps = 800;
  options.adam.lr = 5e-3;
  options.adam.ema = 0.99;
  train(network, objective, options, run, "test");

  torch::NoGradGuard no_grad;
  const auto t = process->t_end() + (1 - process->t_end()) * uniform(2, Stream::time, 0, kCheck, {}, torch::kFloat64);
  const auto e = normal(2, Stream::noise, 0, kCheck, {2, 1, 1}, torch::kFloat64);
  const auto x = process->diffuse(law.sample(2, Stream::coefficients, 0, kCheck), e, t);
  const auto learned = network(x.to(torch::kFloat32), t.to(torch::kFloat32));
  EXPECT_LT(testing::relative_error(learned, law.velocity(x, t, *process)), 0.4);

  const auto field = [&](const Tensor& z, const Tensor& s) { return network(z, s); };
  const auto latents = normal(3, Stream::latents, 0, kCheck, {2, 1, 1});
  const auto samples =
      integrate(field, latents, {.kind = IntegratorKind::heun, .steps = 100}, process->t_end()).x.flatten(1);
  const auto first = law.marginal(torch::tensor({1.0, 0.0}, torch::kFloat64));
  EXPECT_LT(wasserstein(samples.select(1, 0), first), 0.15);
}

INSTANTIATE_TEST_SUITE_P(Registered, TeacherUnder, ::testing::ValuesIn(process_registry().names()));

}  // namespace
}  // namespace piddm
