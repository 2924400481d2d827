#include "piddm/pde/darcy.h"

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::gradient_error;
using piddm::testing::relative_error;

PdePtr darcy(int64_t grid) { return make_pde({.name = "darcy", .grid = grid}); }

double rel_residual(const Pde& pde, const Tensor& x) {
  return (pde.residual(x).fields[0].interior.square().mean() / pde.residual(x).fields[0].reference.square().mean())
      .sqrt()
      .item<double>();
}

/// Mean of independent numbers [B] and its standard error.
std::pair<double, double> mean_and_error(const Tensor& values) {
  const double count = static_cast<double>(values.numel());
  return {values.mean().item<double>(), values.std().item<double>() / std::sqrt(count)};
}

struct Threads {
  explicit Threads(int count) : before(torch::get_num_threads()) { torch::set_num_threads(count); }
  ~Threads() { torch::set_num_threads(before); }
  int before;
};

TEST(Darcy, Channels) {
  const PdePtr pde = darcy(16);
  EXPECT_EQ(pde->channel_names(), (std::vector<std::string>{"u", "a"}));
  EXPECT_EQ(pde->num_solution_channels(), 1);
  EXPECT_EQ(pde->channels()[0].zero_on, ZeroOn::wall);
  EXPECT_EQ(pde->channels()[1].two_valued, std::make_pair(3.0, 12.0));
  EXPECT_DOUBLE_EQ(darcy(128)->equations()[0].scale, 115.0 / (128 * 128));
}

TEST(Darcy, SamplesSatisfyTheEquationToRoundOff) {
  const PdePtr pde = darcy(32);
  SolveReport report;
  const Tensor x = pde->sample(1, 0, 20, &report);
  EXPECT_LT(rel_residual(*pde, x), 1e-11);
  EXPECT_LT(report.relative_residual, 1e-11);
  EXPECT_GT(report.iterations, 10);
  EXPECT_LT(report.iterations, 40);
  EXPECT_GT(x.select(1, 0).min().item<double>(), 0);  // maximum principle
  const Tensor a = x.select(1, 1);
  EXPECT_TRUE(((a == 3) | (a == 12)).all().item<bool>());
}

Tensor sample_in_batches(const Pde& pde, int64_t count, int64_t batch) {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < count; i += batch) parts.push_back(pde.sample(5, 100 + i, std::min(batch, count - i)));
  return torch::cat(parts);
}

TEST(Darcy, SamplesHaveTheSameBitsForAnySplitAndThreads) {
  for (const int64_t grid : {32, 100}) {  // where BLAS changes bits with the batch and with the threads
    const PdePtr pde = darcy(grid);
    Tensor expected;
    for (const int threads : {1, 2}) {
      const Threads guard(threads);
      for (const int64_t batch : {1, 3, 8}) {
        const Tensor x = sample_in_batches(*pde, 8, batch);
        if (!expected.defined()) expected = x;
        EXPECT_TRUE(torch::equal(x, expected))
            << "grid " << grid << ", " << threads << " threads, batches of " << batch;
      }
    }
  }
}

TEST(Darcy, LargeSampleHasTheSameBitsForAnyThreads) {
  const PdePtr pde = darcy(184);  // from here on ATen splits a single field among threads
  const auto sample = [&](int threads) {
    const Threads guard(threads);
    return pde->sample(5, 0, 1);
  };
  EXPECT_TRUE(torch::equal(sample(1), sample(2)));
}

TEST(Darcy, SeedsAndIndicesGiveDifferentSamples) {
  const PdePtr pde = darcy(16);
  const Tensor a = pde->sample_coefficients(1, 0, 2);
  EXPECT_FALSE(torch::equal(a[0], a[1]));
  EXPECT_FALSE(torch::equal(a, pde->sample_coefficients(2, 0, 2)));
}

TEST(Darcy, StatisticsOfTheData) {
  const PdePtr pde = darcy(64);
  const Tensor x = pde->sample(3, 0, 192), u = x.select(1, 0), a = x.select(1, 1);
  const auto [mean_a, error_a] = mean_and_error(a.mean({1, 2}));
  EXPECT_NEAR(mean_a, 7.5, 4 * error_a);  // P(g >= 0) = 1/2
  EXPECT_LT(error_a, 0.2);
  // Means over cells of u and u^2 for the published law: 5.73e-3 and 5.73e-3^2 + 3.82e-3^2 (themselves known to about 2
  // %).
  const auto [mean_u, error_u] = mean_and_error(u.mean({1, 2}));
  EXPECT_NEAR(mean_u, 5.73e-3, 0.02 * 5.73e-3 + 3 * error_u);
  EXPECT_LT(error_u, 0.03 * mean_u);
  const auto [mean_u2, error_u2] = mean_and_error(u.square().mean({1, 2}));
  EXPECT_NEAR(mean_u2, 4.742e-5, 0.04 * 4.742e-5 + 3 * error_u2);
  EXPECT_NEAR(u.std().item<double>(), 3.82e-3, 0.05 * 3.82e-3);
}

TEST(Darcy, ResidualIsDifferentiableInBothChannels) {
  const PdePtr pde = darcy(16);
  const Tensor x = pde->sample(2, 0, 3) * (1 + 0.1 * torch::randn({3, 2, 16, 16}, torch::kFloat64));
  const Tensor weights = torch::randn({3, 1, 16, 16}, torch::kFloat64);
  for (const int64_t channel : {0, 1}) {
    const auto with = [&](const Tensor& field) {
      return channel == 0 ? torch::cat({field, x.narrow(1, 1, 1)}, 1) : torch::cat({x.narrow(1, 0, 1), field}, 1);
    };
    const Tensor field = x.narrow(1, channel, 1).contiguous();
    const auto linear = [&](const Tensor& f) { return (pde->residual(with(f)).fields[0].interior * weights).sum(); };
    const auto loss = [&](const Tensor& f) { return pde->pde_error(with(f)).sum(); };
    EXPECT_LT(gradient_error(linear, field), 1e-6) << "channel " << channel;
    EXPECT_LT(gradient_error(loss, field, 20, channel == 0 ? 1e-6 : 1e-4), 1e-6) << "channel " << channel;
  }
}

TEST(Darcy, ResidualInFloat32AgreesWithFloat64) {
  const PdePtr pde = darcy(32);
  const Tensor x = pde->sample(2, 0, 2) * (1 + 0.1 * torch::randn({2, 2, 32, 32}, torch::kFloat64));
  const Tensor narrow = pde->residual(x.to(torch::kFloat32)).fields[0].interior;
  EXPECT_EQ(narrow.scalar_type(), torch::kFloat32);
  EXPECT_LT(relative_error(narrow, pde->residual(x).fields[0].interior), 1e-5);
}

TEST(Darcy, PdeErrorIsTheMeanSquareInItsUnit) {
  const PdePtr pde = darcy(16);
  Tensor x = pde->sample(2, 0, 2);
  x.select(1, 0).zero_();  // r_phys = 1 everywhere
  const double c = 115.0 / 256;
  EXPECT_LT(relative_error(pde->pde_error(x), torch::full({2}, c * c, torch::kFloat64)), 1e-14);
  EXPECT_FALSE(pde->residual(x).boundary.defined());
}

TEST(Darcy, DecodeLandsOnTheSolutionForItsOwnCoefficient) {
  const PdePtr pde = darcy(32);
  const Tensor truth = pde->sample(4, 0, 3);
  Tensor x = truth.clone();
  x[0][0] *= 1 + 0.05 * torch::randn({32, 32}, torch::kFloat64);
  x[1][1] += 0.3 * torch::randn({32, 32}, torch::kFloat64);
  const Decoded decoded = pde->decode(x);
  EXPECT_LT(rel_residual(*pde, decoded.x), 1e-11);
  EXPECT_LT(relative_error(decoded.x.narrow(1, 0, 1), pde->solve(x.narrow(1, 1, 1))), 1e-11);
  EXPECT_TRUE(torch::equal(decoded.x.select(1, 1), x.select(1, 1)));
  EXPECT_TRUE(torch::equal(decoded.x[2], truth[2]));  // already exact: untouched
  EXPECT_EQ(decoded.iterations[2].item<int64_t>(), 0);
  EXPECT_EQ(decoded.moved[2].item<double>(), 0);
  EXPECT_GT(decoded.iterations[0].item<int64_t>(), 5);
  EXPECT_NEAR(decoded.moved[0].item<double>(), 0.05, 0.005);
  EXPECT_EQ(decoded.clamped.sum().item<int64_t>(), 0);
}

TEST(Darcy, DecodeClampsWhatIsNotElliptic) {
  const PdePtr pde = darcy(16);
  Tensor x = pde->sample(4, 0, 2).to(torch::kFloat32);
  x[1][1][3][4] = -2;
  x[1][1][7][7] = 0.01;
  const Decoded decoded = pde->decode(x);
  EXPECT_EQ(decoded.clamped[0].item<int64_t>(), 0);
  EXPECT_EQ(decoded.clamped[1].item<int64_t>(), 2);
  EXPECT_EQ(decoded.x[1][1][3][4].item<double>(), Darcy::kCoefficientFloor);
  EXPECT_LT(rel_residual(*pde, decoded.x), 1e-11);
  EXPECT_ERROR(pde->solve(x.narrow(1, 1, 1)), ExitCode::data, "smallest is -2");
}

TEST(Darcy, DecodeCopesWithANoisyCoefficient) {
  const PdePtr pde = darcy(32);
  Tensor x = pde->sample(4, 0, 4);
  x += torch::tensor({1e-3, 5.0}, torch::kFloat64).view({1, 2, 1, 1}) * torch::randn_like(x);
  const Decoded decoded = pde->decode(x);
  EXPECT_GT(decoded.clamped.min().item<int64_t>(), 0);
  EXPECT_LT(rel_residual(*pde, decoded.x), 1e-9);
}

TEST(Darcy, PreconditionedResidualIsCloseToTheErrorOfTheSolution) {
  const PdePtr pde = darcy(32);
  const Tensor truth = pde->sample(6, 0, 4), noise = 1e-3 * torch::randn({4, 1, 32, 32}, torch::kFloat64);
  const Tensor r =
      pde->residual(torch::cat({truth.narrow(1, 0, 1) - noise, truth.narrow(1, 1, 1)}, 1)).fields[0].interior;
  // With 6 = sqrt(3 * 12) the eigenvalues of L^-1 A lie in [1/2, 2].
  const auto solved = [&](const Tensor& t) { return pde->precondition({.fields = {{t}}}); };
  const Tensor ratio = (r * solved(r)).sum({1, 2, 3}) / (r * noise).sum({1, 2, 3});
  EXPECT_GT(ratio.min().item<double>(), 0.5);
  EXPECT_LT(ratio.max().item<double>(), 2);
  EXPECT_LT(gradient_error([&](const Tensor& t) { return solved(t).pow(2).sum(); }, r), 1e-6);
}

TEST(Darcy, ConstrainSetsTheRing) {
  const PdePtr pde = darcy(16);
  const Tensor x = torch::randn({2, 2, 16, 16}, torch::kFloat64), y = pde->constrain(x);
  const auto inner = [](const Tensor& t) { return t.narrow(2, 1, 14).narrow(3, 1, 14); };
  EXPECT_TRUE(torch::equal(inner(y), inner(x)));
  EXPECT_TRUE(torch::equal(y.select(1, 1), x.select(1, 1)));
  const Tensor u = x.select(1, 0), v = y.select(1, 0);
  EXPECT_LT(relative_error(v.select(1, 0).narrow(1, 1, 14), u.select(1, 1).narrow(1, 1, 14) / 3), 1e-15);
  EXPECT_LT(relative_error(v.select(1, 15).narrow(1, 1, 14), u.select(1, 14).narrow(1, 1, 14) / 3), 1e-15);
  EXPECT_LT(relative_error(v.select(2, 0).narrow(1, 1, 14), u.select(2, 1).narrow(1, 1, 14) / 3), 1e-15);
  EXPECT_LT(relative_error(v.select(2, 15).narrow(1, 1, 14), u.select(2, 14).narrow(1, 1, 14) / 3), 1e-15);
  for (const auto& [i, j] : {std::pair{0, 0}, {0, 15}, {15, 0}, {15, 15}})
    EXPECT_NEAR(v[1][i][j].item<double>(), u[1][i ? 14 : 1][j ? 14 : 1].item<double>() / 9, 1e-15);
  EXPECT_LT(relative_error(pde->constrain(y), y), 1e-15);
}

TEST(Darcy, ErrorsNameTheCulprit) {
  const PdePtr pde = darcy(32);
  EXPECT_ERROR(pde->residual(torch::zeros({8, 3, 64, 64})), ExitCode::data,
               "[darcy] expected (B,2,32,32), got (8,3,64,64)");
  EXPECT_ERROR(pde->residual(torch::zeros({8, 2, 32, 32}, torch::kBFloat16)), ExitCode::data, "BFloat16");
  EXPECT_ERROR(pde->solve(torch::ones({2, 2, 32, 32})), ExitCode::data, "(2,2,32,32)");
  EXPECT_ERROR(pde->solve(torch::ones({2, 1, 32, 32}), torch::ones({1, 1, 32, 32})), ExitCode::data, "(1,1,32,32)");
  EXPECT_ERROR(pde->decode(torch::full({1, 2, 32, 32}, NAN)), ExitCode::numerics, "not finite");
}

}  // namespace
}  // namespace piddm
