// Poisson and Helmholtz: they share grid, stencil and solver, and most of what is asked of them.

#include "piddm/pde/poisson.h"

#include <cmath>
#include <fstream>
#include <numbers>

#include "piddm/numerics/sine_transform.h"
#include "piddm/pde/physics_loss.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::golden;
using piddm::testing::gradient_error;
using piddm::testing::relative_error;

constexpr double kPi = std::numbers::pi;

PdePtr poisson(int64_t grid) { return make_pde({.name = "poisson", .grid = grid}); }
PdePtr helmholtz(int64_t grid, double k) {
  return make_pde({.name = "helmholtz", .grid = grid, .parameters = {{"k", k}}});
}

/// Both, on this grid.
std::vector<PdePtr> both(int64_t grid) { return {poisson(grid), helmholtz(grid, 1)}; }

Tensor nodes(int64_t n) { return torch::arange(n, torch::kFloat64) / static_cast<double>(n - 1); }

Tensor inner_nodes(const Tensor& x) { return x.narrow(-2, 1, x.size(-2) - 2).narrow(-1, 1, x.size(-1) - 2); }

double rel_residual(const Pde& pde, const Tensor& x) {
  return (pde.residual(x).fields[0].interior.square().mean() / pde.residual(x).fields[0].reference.square().mean())
      .sqrt()
      .item<double>();
}

struct Threads {
  explicit Threads(int count) : before(torch::get_num_threads()) { torch::set_num_threads(count); }
  ~Threads() { torch::set_num_threads(before); }
  int before;
};

TEST(Poisson, Interface) {
  for (const PdePtr& pde : both(16)) {
    EXPECT_EQ(pde->channel_names(), (std::vector<std::string>{"u", "a"}));
    EXPECT_EQ(pde->num_solution_channels(), 1);
    EXPECT_TRUE(pde->has_preconditioner());
    EXPECT_DOUBLE_EQ(pde->equations()[0].scale, 1.0 / (15 * 15));
  }
  EXPECT_EQ(poisson(16)->parameters().size(), 2U);  // the lengths
  EXPECT_EQ(make_pde({.name = "helmholtz", .grid = 16})->parameters().at(0).value, 1.0);
}

TEST(Poisson, EigenfunctionsAreExact) {
  for (const int64_t n : {16, 33, 128})
    for (const double k : {0.0, 1.0, 7.5}) {
      const PdePtr pde = helmholtz(n, k);
      const double h = 1.0 / static_cast<double>(n - 1);
      const auto lambda = [&](int p) { return std::pow(2 / h * std::sin(kPi * p * h / 2), 2); };
      for (const auto& [p, q] : {std::pair{1, 1}, {3, 2}, {1, 14}}) {
        const Tensor u =
            (torch::sin(p * kPi * nodes(n)).unsqueeze(1) * torch::sin(q * kPi * nodes(n))).view({1, 1, n, n});
        const Tensor a = (k * k - lambda(p) - lambda(q)) * u;
        EXPECT_LT(relative_error(pde->solve(a), u), 2e-13) << n << " " << k << " " << p << " " << q;
      }
    }
}

/// Root mean square error for u = sin(pi x) y (1-y) e^x: not an eigenfunction.
double manufactured_error(int64_t n, double k) {
  const Tensor x = nodes(n).view({1, 1, n, 1}), y = nodes(n).view({1, 1, 1, n});
  const Tensor ex = torch::exp(x), s = torch::sin(kPi * x), c = torch::cos(kPi * x), parabola = y * (1 - y);
  const Tensor u = s * ex * parabola;
  const Tensor u_xx = ex * ((1 - kPi * kPi) * s + 2 * kPi * c) * parabola, u_yy = -2 * s * ex;
  const Tensor solution = helmholtz(n, k)->solve(u_xx + u_yy + k * k * u);
  return (solution - u).square().mean().sqrt().item<double>();
}

TEST(Poisson, SecondOrderOnASmoothSolution) {
  for (const double k : {0.0, 1.0, 6.0}) {
    double coarse = manufactured_error(17, k);
    for (const int64_t n : {33, 65, 129}) {
      const double fine = manufactured_error(n, k);
      EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.15) << "k = " << k << ", to " << n;
      coarse = fine;
    }
  }
}

TEST(Poisson, MatchesASparseDirectSolve) {
  constexpr int64_t n = 17;
  std::ifstream in(golden("poisson_17.txt"));
  std::vector<double> values(6 * n * n);
  for (double& value : values) ASSERT_TRUE(in >> value);
  const Tensor cases = torch::tensor(values, torch::kFloat64).view({3, 2, 1, n, n});
  int64_t i = 0;
  for (const double k : {0.0, 1.0, 12.5}) {
    const PdePtr pde = helmholtz(n, k);
    const Tensor a = cases[i][0].unsqueeze(0), u = cases[i][1].unsqueeze(0);
    EXPECT_LT(relative_error(pde->solve(a), u), 1e-12) << k;
    const Residual residual = pde->residual(torch::cat({u, a}, 1));
    EXPECT_LT(residual.fields[0].interior.abs().max().item<double>(), 1e-11) << k;
    EXPECT_LT(residual.boundary.abs().max().item<double>(), 1e-13) << k;  // identity rows, solved like the others
    ++i;
  }
}

TEST(Poisson, SamplesSatisfyTheEquationToRoundOff) {
  for (const PdePtr& pde : both(128)) {
    SolveReport report;
    const Tensor x = pde->sample(1, 0, 4, &report);
    EXPECT_LT(rel_residual(*pde, x), 1e-11);
    EXPECT_LT(report.relative_residual, 1e-11);
    EXPECT_GT(report.relative_residual, 0);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(pde->residual(x).boundary.abs().max().item<double>(), 0);
    EXPECT_EQ(pde->residual(x).boundary.sizes(), torch::IntArrayRef({4, 4 * 127}));
    EXPECT_EQ(pde->residual(x).fields[0].interior.sizes(), torch::IntArrayRef({4, 1, 126, 126}));
  }
}

// The discrete operator is linear and the fast solver its inverse.
TEST(Poisson, TheImpliedErrorIsTheErrorOfTheSolution) {
  for (const PdePtr& pde : both(24)) {
    const Tensor x = pde->sample(1, 0, 3);
    Tensor wrong = x.clone();
    const Tensor change = torch::randn({3, 22, 22}, torch::kFloat64);
    wrong.select(1, 0).narrow(1, 1, 22).narrow(2, 1, 22).add_(change);
    EXPECT_LT(relative_error(implied_error(*pde, wrong).squeeze(1), change.square().mean({1, 2})), 1e-10);
    EXPECT_LT(implied_error(*pde, x).max().item<double>(), 1e-24);
  }
}

Tensor sample_in_batches(const Pde& pde, int64_t count, int64_t batch) {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < count; i += batch) parts.push_back(pde.sample(5, 100 + i, std::min(batch, count - i)));
  return torch::cat(parts);
}

TEST(Poisson, SamplesHaveTheSameBitsForAnySplitAndThreads) {
  for (const int64_t grid : {32, 101, 184})
    for (const PdePtr& pde : both(grid)) {
      Tensor expected;
      for (const int threads : {1, 2}) {
        const Threads guard(threads);
        for (const int64_t batch : {1, 3, 8}) {
          const Tensor x = sample_in_batches(*pde, 8, batch);
          if (!expected.defined()) expected = x;
          EXPECT_TRUE(torch::equal(x, expected)) << pde->name() << " " << grid << ", " << threads << ", " << batch;
        }
      }
    }
}

/// E[u^2] averaged over the grid, exactly: u = sum_kl s_kl xi_kl L^-1 (phi_k phi_l), and the square of L^-1 of a
/// product of cosines is a double sum over the sine modes of both factors.
double exact_mean_square(int64_t n, double k) {
  const Tensor k2 = torch::arange(n, torch::kFloat64).mul(kPi).square();
  Tensor s2 = (3 / (k2.unsqueeze(1) + k2 + 9)).square();
  s2[0][0] = 0;
  const Tensor phi = cosine_matrix(n).t().narrow(0, 1, n - 2) * std::sqrt(static_cast<double>(n));  // [point, mode]
  const Tensor q2 = node_sine_matrix(n - 2).mm(phi).square();                                       // [sine, cosine]
  const Tensor weight = (laplace_eigenvalues(n - 2, Walls::on_points) - k * k).square().reciprocal();
  return (q2.t().mm(weight).mm(q2) * s2).sum().item<double>() / static_cast<double>(n * n);
}

TEST(Poisson, StatisticsMatchTheSumsOverModes) {
  EXPECT_NEAR(std::sqrt(exact_mean_square(128, 0)), 4.17e-3, 0.03 * 4.17e-3);  // of the released data
  EXPECT_NEAR(std::sqrt(exact_mean_square(128, 1)), 4.28e-3, 0.03 * 4.28e-3);
  constexpr int64_t kCount = 1000;
  for (const double k : {0.0, 1.0}) {
    const PdePtr pde = k == 0 ? poisson(48) : helmholtz(48, k);
    const Tensor x = pde->sample(3, 0, kCount), squares = x.select(1, 0).square().mean({1, 2});
    const double error = squares.std().item<double>() / std::sqrt(1.0 * kCount), exact = exact_mean_square(48, k);
    EXPECT_NEAR(squares.mean().item<double>(), exact, 4 * error) << k;
    EXPECT_LT(error, 0.06 * exact) << k;
    const Tensor a2 = x.select(1, 1).square().mean({1, 2});
    const double a_error = a2.std().item<double>() / std::sqrt(1.0 * kCount);
    const double ring = k == 0 ? 0 : 4.0 * 47 / (48 * 48);  // of the nodes, where Helmholtz has no load
    EXPECT_NEAR(a2.mean().item<double>(), (1 - ring) * GaussianField(48).pointwise_variance_mean(),
                4 * a_error + 0.05 * ring);
  }
  EXPECT_NEAR(std::sqrt(GaussianField(128).pointwise_variance_mean()), 0.2921, 5e-5);
}

TEST(Poisson, ResidualIsDifferentiableInBothChannels) {
  for (const PdePtr& pde : both(16)) {
    const Tensor x = pde->sample(2, 0, 2) + 0.01 * torch::randn({2, 2, 16, 16}, torch::kFloat64);
    const Tensor weights = torch::randn({2, 1, 14, 14}, torch::kFloat64), ring = torch::randn({2, 60}, torch::kFloat64);
    const auto linear = [&](const Tensor& y) {
      const Residual r = pde->residual(y);
      return (r.fields[0].interior * weights).sum() + (r.boundary * ring).sum();
    };
    EXPECT_LT(gradient_error(linear, x), 1e-6) << pde->name();
    EXPECT_LT(gradient_error([&](const Tensor& y) { return pde->pde_error(y).sum(); }, x), 1e-6) << pde->name();
  }
}

TEST(Poisson, ResidualInFloat32AgreesWithFloat64) {
  for (const PdePtr& pde : both(32)) {
    const Tensor x = pde->sample(2, 0, 2) + 0.01 * torch::randn({2, 2, 32, 32}, torch::kFloat64);
    const Tensor narrow = pde->residual(x.to(torch::kFloat32)).fields[0].interior;
    EXPECT_EQ(narrow.scalar_type(), torch::kFloat32);
    EXPECT_LT(relative_error(narrow, pde->residual(x).fields[0].interior), 1e-5);
  }
}

TEST(Poisson, PdeErrorIsTheMeanSquareInItsUnit) {
  const PdePtr pde = poisson(16);
  Tensor x = torch::zeros({2, 2, 16, 16}, torch::kFloat64);
  x.select(1, 1).fill_(3);
  EXPECT_LT(relative_error(pde->pde_error(x), torch::full({2}, std::pow(3.0 / 225, 2), torch::kFloat64)), 1e-14);
}

TEST(Poisson, BoundaryResidualSeesEachRingNodeOnce) {
  const PdePtr pde = poisson(16);
  const Tensor ring = pde->given_boundary();
  EXPECT_EQ(ring.sum().item<int64_t>(), 60);
  const Tensor x = torch::randn({1, 2, 16, 16}, torch::kFloat64);
  const Tensor expected = x[0][0].masked_select(ring[0]), got = pde->residual(x).boundary[0];
  EXPECT_TRUE(torch::equal(std::get<0>(got.sort()), std::get<0>(expected.sort())));
}

TEST(Poisson, ConstrainSetsTheRingToZero) {
  const PdePtr pde = poisson(16);
  const Tensor x = torch::randn({2, 2, 16, 16}, torch::kFloat64), y = pde->constrain(x);
  EXPECT_EQ(pde->residual(y).boundary.abs().max().item<double>(), 0);
  EXPECT_TRUE(torch::equal(inner_nodes(y), inner_nodes(x)));
  EXPECT_TRUE(torch::equal(y.select(1, 1), x.select(1, 1)));
}

TEST(Poisson, PreconditionerInvertsTheOperator) {
  for (const PdePtr& pde : both(24)) {
    const Tensor truth = pde->sample(6, 0, 2);
    const Tensor error = torch::constant_pad_nd(torch::randn({2, 1, 22, 22}, torch::kFloat64), {1, 1, 1, 1});
    const Tensor r =
        pde->residual(torch::cat({truth.narrow(1, 0, 1) + error, truth.narrow(1, 1, 1)}, 1)).fields[0].interior;
    const auto solved = [&](const Tensor& t) { return pde->precondition({.fields = {{t}}}); };
    EXPECT_LT(relative_error(solved(r), inner_nodes(error)), 1e-12);
    EXPECT_LT(relative_error(solved(r.to(torch::kFloat32)), inner_nodes(error)), 1e-5);
    EXPECT_LT(gradient_error([&](const Tensor& t) { return solved(t).pow(2).sum(); }, r), 1e-6);
  }
  EXPECT_ERROR(poisson(24)->precondition({.fields = {{torch::zeros({2, 1, 24, 24})}}}), ExitCode::data, "(B,1,22,22)");
}

TEST(Poisson, DecodeLandsOnTheSolutionForItsOwnLoad) {
  for (const PdePtr& pde : both(32)) {
    const Tensor truth = pde->sample(4, 0, 2);
    Tensor x = truth.clone();
    x.select(1, 0) *= 1.05;
    const Decoded decoded = pde->decode(x.to(torch::kFloat32));
    EXPECT_LT(rel_residual(*pde, decoded.x), 1e-11);
    EXPECT_LT(relative_error(decoded.x, truth), 1e-6);
    EXPECT_NEAR(decoded.moved[0].item<double>(), 0.05, 1e-6);
    EXPECT_EQ(decoded.iterations.sum().item<int64_t>() + decoded.clamped.sum().item<int64_t>(), 0);
  }
}

TEST(Poisson, ErrorsNameTheCulprit) {
  EXPECT_ERROR(poisson(32)->residual(torch::zeros({8, 3, 64, 64})), ExitCode::data,
               "[poisson] expected (B,2,32,32), got (8,3,64,64)");
  EXPECT_ERROR(helmholtz(32, 1)->solve(torch::ones({2, 2, 32, 32})), ExitCode::data, "(2,2,32,32)");
  EXPECT_ERROR(poisson(32)->solve(torch::full({1, 1, 32, 32}, NAN)), ExitCode::data, "finite");
  EXPECT_ERROR(make_pde({.name = "poisson", .grid = 32, .parameters = {{"k", 1}}}), ExitCode::usage,
               "unknown parameter 'k'; known: length_x, length_y");
}

}  // namespace
}  // namespace piddm
