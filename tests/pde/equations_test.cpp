// Each equation by itself: exact solutions, order of the residual on four grids, parameters, given entries.

#include <numbers>

#include "piddm/pde/heat.h"
#include "piddm/pde/pme.h"
#include "piddm/pde/stefan.h"
#include "piddm/pde/stokes.h"
#include "tests/pde/closed.h"

namespace piddm {
namespace {

using namespace piddm::testing;

const std::vector<int64_t> kNested = {33, 65, 129, 257};

Tensor everywhere(const Tensor& x, const Tensor& t) { return (x > -1).logical_and(t > -1); }

void expect_second_order(const std::function<double(int64_t)>& rms, const std::vector<int64_t>& grids) {
  for (const double order : orders(rms, grids)) EXPECT_NEAR(order, 2.0, 0.15);
}

/// How a parameter changes the mean square residual of exact data of the default equation.
double error_with(const Pde& pde, const std::string& parameter, double value, const Tensor& x) {
  return with_parameter(pde, parameter, value)->pde_error(x).mean().item<double>();
}

double entry(const Tensor& u, int64_t i, int64_t n) { return u[0][0][i][n].item<double>(); }

TEST(Stokes, SolutionAtAPoint) {
  const PdePtr p = pde("stokes", 101, {{"A", 1.5}, {"k", 3.0}});
  const Tensor u = p->solve(constant(6, 101));
  EXPECT_NEAR(entry(u, 30, 70), 1.5 * std::exp(-0.9) * std::cos(0.9 - 4.2), 1e-15);
  EXPECT_DOUBLE_EQ(p->equations()[0].scale, 0.01);
}

TEST(Stokes, ResidualIsSecondOrder) {
  expect_second_order(
      [](int64_t n) {
        const auto [x, t] = inner_nodes(n);
        return residual_rms(*pde("stokes", n), 5, x, t, everywhere);
      },
      kNested);
}

TEST(Stokes, ParametersEnterTheResidual) {
  const PdePtr p = pde("stokes", 64);
  const Tensor x = p->sample(1, 0, 4);
  for (const double k : {4.9, 5.1}) EXPECT_GT(error_with(*p, "k", k, x), 10 * error_with(*p, "k", 5, x));
  const Tensor boundary = with_parameter(*p, "A", 2.02)->residual(x).boundary;
  EXPECT_NEAR(boundary.abs().max().item<double>(), 0.02, 1e-12);
  EXPECT_ERROR(pde("stokes", 64, {{"k", 0.0}}), ExitCode::usage, "parameter k = 0");
}

TEST(Stokes, GivenEntriesAndConstraint) {
  const PdePtr p = pde("stokes", 16);
  const Tensor mask = p->given_boundary();
  EXPECT_EQ(mask.sizes(), torch::IntArrayRef({1, 16, 16}));
  EXPECT_EQ(mask.sum().item<int64_t>(), 31);
  EXPECT_TRUE(mask[0].select(0, 0).all().item<bool>() && mask[0].select(1, 0).all().item<bool>());
  const Tensor x = torch::randn({2, 2, 16, 16}, torch::kFloat64), y = p->constrain(x);
  EXPECT_NEAR(y[1][0][3][0].item<double>(), 2 * std::exp(-1) * std::cos(1), 1e-15);
  EXPECT_TRUE(torch::equal(y.narrow(3, 1, 15), x.narrow(3, 1, 15)));
}

TEST(Heat, SolutionAtAPoint) {
  const PdePtr p = pde("heat", 40, {{"alpha", 2.0}});
  const Tensor u = p->solve(constant(0.7, 40));
  EXPECT_NEAR(entry(u, 7, 13), std::exp(-26.0 / 39) * std::sin(14 * std::numbers::pi / 40 + 0.7), 1e-15);
  EXPECT_DOUBLE_EQ(p->equations()[0].scale, 1.0 / 39);
}

TEST(Heat, ResidualIsSecondOrder) {
  expect_second_order(
      [](int64_t n) {
        return pde("heat", n)
            ->residual(exact_sample(*pde("heat", n), 1))
            .fields[0]
            .interior.square()
            .mean()
            .sqrt()
            .item<double>();
      },
      {32, 64, 128, 256});
}

TEST(Heat, IsScoredAtAllXAndPeriodic) {
  const PdePtr p = pde("heat", 16);
  const Tensor x = torch::randn({1, 2, 16, 16}, torch::kFloat64), r = p->residual(x).fields[0].interior;
  EXPECT_EQ(r.sizes(), torch::IntArrayRef({1, 1, 16, 14}));
  Tensor rolled = x.clone();
  rolled.select(1, 0).copy_(x.select(1, 0).roll({5}, {1}));
  EXPECT_LT(relative_error(p->residual(rolled).fields[0].interior, r.roll({5}, {2})), 1e-14);
}

TEST(Heat, ParameterEntersTheResidual) {
  const PdePtr p = pde("heat", 64);
  const Tensor x = p->sample(1, 0, 4);
  for (const double alpha : {2.9, 3.1})
    EXPECT_GT(error_with(*p, "alpha", alpha, x), 10 * error_with(*p, "alpha", 3, x));
}

TEST(Heat, ConstrainTakesTheMeanOut) {
  const PdePtr p = pde("heat", 16);
  EXPECT_EQ(p->given_boundary().sum().item<int64_t>(), 16);
  EXPECT_TRUE(p->given_boundary()[0].select(1, 0).all().item<bool>());
  const Tensor x = torch::randn({2, 2, 16, 16}, torch::kFloat64), y = p->constrain(x);
  EXPECT_LT(y.select(1, 0).mean(1).abs().max().item<double>(), 1e-15);
  const Tensor change = (y - x).select(1, 0);
  EXPECT_LT((change - change.narrow(1, 0, 1)).abs().max().item<double>(), 1e-15);
}

TEST(Pme, SolutionAtAPoint) {
  const PdePtr p = pde("pme", 51);
  const Tensor u = p->solve(constant(2.5, 51));
  EXPECT_NEAR(entry(u, 10, 35), std::pow(2.5 * 0.5, 1 / 2.5), 1e-15);
  EXPECT_EQ(entry(u, 20, 20), 0);
  EXPECT_EQ(entry(u, 21, 20), 0);
  EXPECT_GT(entry(u, 19, 20), 0);
  EXPECT_DOUBLE_EQ(p->equations()[0].scale, 1.0 / 2500);
}

TEST(Pme, ResidualIsSecondOrderAwayFromTheFront) {
  for (const double m : {1.5, 3.0, 5.0})
    expect_second_order(
        [m](int64_t n) {
          const auto [x, t] = inner_nodes(n);
          return residual_rms(*pde("pme", n), m, x, t, [](const Tensor& a, const Tensor& b) { return b - a > 0.3; });
        },
        kNested);
}

TEST(Pme, LinearProfileIsExact) {
  // m = 1: u = t - x, whose differences have no error away from the front.
  const PdePtr p = pde("pme", 33);
  const Residual r = p->residual(exact_sample(*p, 1));
  EXPECT_LT(r.fields[0].interior.masked_select(r.fields[0].smooth).abs().max().item<double>(), 1e-10);
  EXPECT_EQ(r.fields[0].smooth.sum().item<int64_t>(), 28 * 29 / 2);  // t - x >= 3 h
}

TEST(Pme, NegativeValuesCountInTheTimeDerivativeOnly) {
  const PdePtr p = pde("pme", 16);
  Tensor x = torch::zeros({1, 2, 16, 16}, torch::kFloat64);
  x.select(1, 1).fill_(2);
  x[0][0][5][6] = -0.1;
  const Tensor r = p->residual(x).fields[0].interior[0][0];
  EXPECT_NEAR(r[4][4].item<double>(), -0.1 * 15 / 2, 1e-14);
  EXPECT_NEAR(r[4][6].item<double>(), 0.1 * 15 / 2, 1e-14);
  EXPECT_EQ(r.count_nonzero().item<int64_t>(), 2);
}

TEST(Pme, FiniteForAnyM) {
  const PdePtr p = pde("pme", 16);
  for (const double m : {-5.0, -1.0, 0.0, 0.05, 60.0}) {
    Tensor x = p->sample(1, 0, 1);
    x.select(1, 1).fill_(m);
    x.requires_grad_(true);
    const Residual r = p->residual(x);
    (r.fields[0].interior.sum() + r.boundary.sum()).backward();
    EXPECT_TRUE(all_finite(r.fields[0].interior) && all_finite(r.boundary) && all_finite(x.grad())) << m;
  }
}

TEST(Pme, GivenEntries) {
  const Tensor mask = pde("pme", 16)->given_boundary();
  EXPECT_EQ(mask.sum().item<int64_t>(), 31);
  EXPECT_TRUE(mask[0].select(0, 15).all().item<bool>() && mask[0].select(1, 0).all().item<bool>());
}

TEST(StefanRoot, MatchesScipy) {
  const Tensor u_star = reference("stefan.u_star").flatten(), z = reference("stefan.z").flatten();
  for (int64_t i = 0; i < z.numel(); ++i) {
    const double expected = z[i].item<double>(), s = u_star[i].item<double>();
    EXPECT_NEAR(stefan_root(s), expected, 1e-12 * expected) << "u* = " << s;
  }
}

TEST(StefanRoot, NeedsAFractionBetweenZeroAndOne) {
  for (const double s : {0.0, 1.0, -1.0, std::nan("")}) EXPECT_ERROR(stefan_root(s), ExitCode::usage, "u_star");
  EXPECT_TRUE(std::isfinite(stefan_root(1e-300)));
  EXPECT_GT(stefan_root(1 - 1e-16), 0);
}

TEST(Stefan, SolutionAtAPoint) {
  const PdePtr p = pde("stefan", 101);
  const double z = stefan_root(0.6), t = 0.049, front = 2 * z * std::sqrt(t);
  const Tensor u = p->solve(constant(0.6, 101));
  EXPECT_NEAR(entry(u, 15, 49), 1 - 0.4 * std::erf(0.15 / (2 * std::sqrt(t))) / std::erf(z), 1e-15);
  const auto last = static_cast<int64_t>(front * 100);
  EXPECT_GT(entry(u, last, 49), 0.6);
  EXPECT_EQ(entry(u, last + 1, 49), 0);
  EXPECT_TRUE((u.select(2, 0) == 1).all().item<bool>());
  EXPECT_TRUE((u.select(3, 0).slice(2, 1) == 0).all().item<bool>());
  EXPECT_DOUBLE_EQ(p->equations()[0].scale, 1e-3);
}

TEST(Stefan, ResidualIsSecondOrderAwayFromTheFront) {
  for (const double u_star : {0.55, 0.7})
    expect_second_order(
        [u_star](int64_t n) {
          const auto [x, t] = inner_nodes(n, 0.1);
          const double reach = 2 * 0.6 * stefan_root(u_star);
          return residual_rms(*pde("stefan", n), u_star, x, t, [reach](const Tensor& a, const Tensor& b) {
            return (a < reach * torch::sqrt(b)).logical_and(b > 0.04);
          });
        },
        kNested);
}

TEST(Stefan, SmoothPointsLeaveOutTheFrontAndTheFirstTimes) {
  const PdePtr p = pde("stefan", 64);
  const Tensor smooth = p->residual(p->sample(1, 0, 1)).fields[0].smooth[0][0];
  EXPECT_FALSE(smooth.narrow(1, 0, 5).any().item<bool>());  // t indices 1..5
  EXPECT_TRUE(smooth.select(1, 5).any().item<bool>());
  const Tensor left_out = smooth.logical_not().narrow(1, 5, 57).sum(0);
  EXPECT_GE(left_out.min().item<int64_t>(), 2);
  EXPECT_LE(left_out.max().item<int64_t>(), 4);
}

TEST(Stefan, GivenEntriesAndConstraint) {
  const PdePtr p = pde("stefan", 16);
  const Tensor mask = p->given_boundary();
  EXPECT_EQ(mask.sum().item<int64_t>(), 31);
  EXPECT_TRUE(mask[0].select(0, 0).all().item<bool>() && mask[0].select(1, 0).all().item<bool>());
  const Tensor y = p->constrain(torch::randn({2, 2, 16, 16}, torch::kFloat64)).select(1, 0);
  EXPECT_TRUE((y.select(1, 0) == 1).all().item<bool>());
  EXPECT_TRUE((y.select(1, 15) == 0).all().item<bool>());
  EXPECT_TRUE((y.select(2, 0).slice(1, 1) == 0).all().item<bool>());
}

}  // namespace
}  // namespace piddm
