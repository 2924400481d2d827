// What holds for all PDEs with a closed form: same bits for any split, values of an independent implementation,
// gradients, laws, floors, decodes.

#include <numbers>

#include "piddm/data/statistics.h"
#include "tests/pde/closed.h"

namespace piddm {
namespace {

using namespace piddm::testing;

struct Case {
  std::string name;
  std::string scalar;
  double low, high;    // of the law
  double floor;        // mean of R^2 on exact data at 128
  double smooth;       // the same over the points away from fronts
  int64_t conditions;  // boundary entries at N = 32
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class ClosedForms : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(All, ClosedForms,
                         ::testing::Values(Case{"stokes", "omega", 2, 8, 9e-11, 9e-11, 64},
                                           Case{"heat", "phi", 0, std::numbers::pi, 4e-12, 4e-12, 32},
                                           Case{"pme", "m", 1, 5, 9e-9, 3e-13, 95},
                                           Case{"stefan", "u_star", 0.55, 0.7, 2.2e-4, 1e-10, 95}),
                         [](const auto& test) { return test.param.name; });

struct Threads {
  explicit Threads(int count) : before(torch::get_num_threads()) { torch::set_num_threads(count); }
  ~Threads() { torch::set_num_threads(before); }
  int before;
};

Tensor sample_in_batches(const Pde& pde, int64_t count, int64_t batch) {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < count; i += batch) parts.push_back(pde.sample(5, 100 + i, std::min(batch, count - i)));
  return torch::cat(parts);
}

/// A field with noise on u and a scalar channel that is not constant.
Tensor noisy(const Pde& pde, int64_t count) {
  const Tensor x = pde.sample(2, 0, count);
  return x * (1 + 0.1 * torch::randn_like(x)) + 1e-3 * torch::randn_like(x);
}

TEST_P(ClosedForms, Channels) {
  const PdePtr p = pde(GetParam().name, 16);
  EXPECT_EQ(p->channel_names(), (std::vector<std::string>{"u", GetParam().scalar}));
  EXPECT_EQ(p->num_solution_channels(), 1);
  EXPECT_TRUE(p->channels()[1].scalar);
}

TEST_P(ClosedForms, FieldsMatchNumpy) {
  const std::string& name = GetParam().name;
  const Tensor expected = reference(name + ".field");
  const Tensor scalar = reference(name + ".scalar").view({-1, 1, 1, 1}).expand_as(expected);
  EXPECT_LT((pde(name, 17)->solve(scalar) - expected).abs().max().item<double>(), 2e-15);
}

TEST_P(ClosedForms, ResidualsMatchNumpy) {
  const std::string& name = GetParam().name;
  const Tensor x = torch::cat({reference(name + ".noisy"), reference(name + ".noisy_scalar")}, 1);
  const Residual r = pde(name, 17)->residual(x);
  EXPECT_LT(relative_error(r.fields[0].interior, reference(name + ".interior")), 1e-13);
  EXPECT_LT(relative_error(r.boundary, reference(name + ".boundary").squeeze(1)), 1e-13);
  const bool has_front = name == "pme" || name == "stefan";
  ASSERT_EQ(r.fields[0].smooth.defined(), has_front);
  EXPECT_TRUE(!has_front || torch::equal(r.fields[0].smooth, reference(name + ".smooth")));
}

TEST_P(ClosedForms, SameBitsForAnySplitAndThreads) {
  for (const int64_t grid : {32, 100, 200}) {
    Tensor expected;
    for (const int threads : {1, 2}) {
      const Threads guard(threads);
      const PdePtr p = pde(GetParam().name, grid);
      for (const int64_t batch : {1, 3, 8}) {
        const Tensor x = sample_in_batches(*p, 8, batch);
        if (!expected.defined()) expected = x;
        EXPECT_TRUE(torch::equal(x, expected)) << "grid " << grid << ", " << threads << " threads, batch " << batch;
      }
    }
  }
}

TEST_P(ClosedForms, ScalarsAreUniform) {
  const auto& c = GetParam();
  constexpr int64_t kCount = 4000;
  const Tensor a = pde(c.name, 16)->sample_coefficients(3, 0, kCount);
  EXPECT_EQ(a.scalar_type(), torch::kFloat64);
  EXPECT_TRUE(torch::equal(a, a.narrow(2, 0, 1).narrow(3, 0, 1).expand_as(a)));
  const Tensor unit = (std::get<0>(a.select(2, 0).select(2, 0).flatten().sort()) - c.low) / (c.high - c.low);
  EXPECT_GT(unit[0].item<double>(), 0);
  EXPECT_LT(unit[-1].item<double>(), 1);
  // Four standard errors of the mean and of the mean square; Kolmogorov's distance at the level 1e-3.
  EXPECT_NEAR(unit.mean().item<double>(), 0.5, 4 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(unit.square().mean().item<double>(), 1.0 / 3, 4 * std::sqrt(4.0 / 45 / kCount));
  const Tensor ranks = (torch::arange(kCount, torch::kFloat64) + 0.5) / kCount;
  EXPECT_LT((unit - ranks).abs().max().item<double>() * std::sqrt(kCount), 1.95);
  EXPECT_FALSE(torch::equal(a, pde(c.name, 16)->sample_coefficients(4, 0, kCount)));
}

TEST_P(ClosedForms, IndexMeansTheSameScalarOnEveryGrid) {
  const auto first = [&](int64_t grid) {
    return pde(GetParam().name, grid)->sample_coefficients(1, 7, 2).narrow(2, 0, 1).narrow(3, 0, 1).clone();
  };
  EXPECT_TRUE(torch::equal(first(16), first(33)));
}

TEST_P(ClosedForms, FloorsAreThePublishedOnes) {
  const auto& c = GetParam();
  const PdePtr p = pde(c.name, 128);
  const ResidualStatistics s = residual_statistics(*p, p->sample(0, 1'000'000, 48));
  const double scale = p->equations()[0].scale, floor = s.mean_pde_error(),
               smooth = s.equations[0].residual.mean().item<double>() * scale * scale;
  EXPECT_GT(floor, c.floor / 2);
  EXPECT_LT(floor, c.floor * 2);
  EXPECT_GT(smooth, c.smooth / 2);
  EXPECT_LT(smooth, c.smooth * 2);
}

TEST_P(ClosedForms, SamplesSatisfyTheirConditions) {
  const PdePtr p = pde(GetParam().name, 32);
  const Tensor x = p->sample(1, 0, 6);
  const Tensor boundary = p->residual(x).boundary;
  EXPECT_EQ(boundary.sizes(), torch::IntArrayRef({6, GetParam().conditions}));
  EXPECT_LT(boundary.abs().max().item<double>(), 1e-14);
  EXPECT_LT((p->constrain(x) - x).abs().max().item<double>(), 1e-15);
}

TEST_P(ClosedForms, ConstrainIsIdempotentAndLeavesTheScalar) {
  const PdePtr p = pde(GetParam().name, 16);
  const Tensor x = noisy(*p, 3), y = p->constrain(x);
  EXPECT_GT((y - x).abs().max().item<double>(), 1e-4);
  EXPECT_LT((p->constrain(y) - y).abs().max().item<double>(), 1e-15);
  EXPECT_TRUE(torch::equal(y.select(1, 1), x.select(1, 1)));
}

TEST_P(ClosedForms, ResidualIsDifferentiableInBothChannels) {
  const PdePtr p = pde(GetParam().name, 16);
  Tensor x = noisy(*p, 3);
  // Away from the kink of max(u - u*, 0), which finite differences would step over.
  const Tensor gap = x.narrow(1, 0, 1) - x.narrow(1, 1, 1).mean({2, 3}, true);
  x.narrow(1, 0, 1) += 1e-2 * gap.sign() * (gap.abs() < 1e-2);
  const Residual shape = p->residual(x);
  const Tensor weights = torch::randn_like(shape.fields[0].interior),
               boundary_weights = torch::randn_like(shape.boundary);
  for (const int64_t channel : {0, 1}) {
    const auto with = [&](const Tensor& field) {
      return channel == 0 ? torch::cat({field, x.narrow(1, 1, 1)}, 1) : torch::cat({x.narrow(1, 0, 1), field}, 1);
    };
    const Tensor field = x.narrow(1, channel, 1).contiguous();
    const auto both = [&](const Tensor& f) {
      const Residual r = p->residual(with(f));
      return (r.fields[0].interior * weights).sum() * p->equations()[0].scale + (r.boundary * boundary_weights).sum();
    };
    const auto loss = [&](const Tensor& f) { return (p->pde_error(with(f)) / p->equations()[0].scale).sum(); };
    EXPECT_LT(gradient_deviation(both, field), 1e-6) << "channel " << channel;
    const bool unused = channel == 1 && GetParam().name == "heat";  // phi is in the initial condition only
    EXPECT_LT(unused ? 0 : gradient_deviation(loss, field), 1e-6) << "channel " << channel;
  }
}

TEST_P(ClosedForms, GradientIsFiniteOnExactData) {
  const PdePtr p = pde(GetParam().name, 16);
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const Tensor x = p->sample(1, 0, 4).to(dtype).requires_grad_(true);
    (p->pde_error(x).sum() + p->residual(x).boundary.square().sum()).backward();
    EXPECT_TRUE(all_finite(x.grad()));
  }
}

TEST_P(ClosedForms, Float32AgreesWithFloat64) {
  const PdePtr p = pde(GetParam().name, 32);
  const Tensor x = noisy(*p, 2).to(torch::kFloat32);
  const Residual narrow = p->residual(x), wide = p->residual(x.to(torch::kFloat64));
  EXPECT_EQ(narrow.fields[0].interior.scalar_type(), torch::kFloat32);
  EXPECT_LT(relative_error(narrow.fields[0].interior, wide.fields[0].interior), 1e-5);
  EXPECT_LT(relative_error(narrow.boundary, wide.boundary), 1e-5);
  EXPECT_TRUE(!wide.fields[0].smooth.defined() || torch::equal(narrow.fields[0].smooth, wide.fields[0].smooth));
}

TEST_P(ClosedForms, PdeErrorAndReferenceAreInTheirUnits) {
  const PdePtr p = pde(GetParam().name, 32);
  const Tensor x = noisy(*p, 2), r = p->residual(x).fields[0].interior;
  const double c = p->equations()[0].scale;
  EXPECT_LT(relative_error(p->pde_error(x), c * c * r.square().mean({1, 2, 3})), 1e-14);
  const Tensor u = x.narrow(1, 0, 1), inside = r.size(2) == 30 ? u.narrow(2, 1, 30) : u;
  const double dt = (GetParam().name == "stefan" ? 0.1 : 1.0) / 31;
  EXPECT_LT(relative_error(p->residual(x).fields[0].reference,
                           (inside.narrow(3, 2, 30) - inside.narrow(3, 0, 30)) / (2 * dt)),
            1e-13);
}

TEST_P(ClosedForms, DecodeLandsOnTheSolutionForItsOwnScalar) {
  const PdePtr p = pde(GetParam().name, 32);
  const Tensor truth = p->sample(4, 0, 3);
  Tensor x = truth.clone();
  x[0][0] *= 1.05;
  x[1][1] += 0.1 * torch::randn({32, 32}, torch::kFloat64);
  const Decoded decoded = p->decode(x.to(torch::kFloat64));
  EXPECT_LT(relative_error(decoded.x[0], truth[0]), 1e-14);
  EXPECT_NEAR(decoded.moved[0].item<double>(), 0.05, 1e-12);
  const double mean = x[1][1].mean().item<double>();
  EXPECT_LT((decoded.x[1] - exact_sample(*p, mean)[0]).abs().max().item<double>(), 1e-13);
  EXPECT_LT((decoded.x[2] - truth[2]).abs().max().item<double>(), 1e-14);
  EXPECT_EQ(decoded.clamped.sum().item<int64_t>(), 0);
  EXPECT_EQ(decoded.iterations.sum().item<int64_t>(), 0);
}

TEST_P(ClosedForms, DecodeClampsWhatMakesNoSense) {
  const PdePtr p = pde(GetParam().name, 16);
  const auto valid = p->channels()[1].valid;
  Tensor x = p->sample(4, 0, 2);
  x[1][1].fill_(-3);
  const Decoded decoded = p->decode(x);
  ASSERT_TRUE(all_finite(decoded.x));
  EXPECT_EQ(decoded.clamped[0].item<int64_t>(), 0);
  EXPECT_EQ(decoded.clamped[1].item<int64_t>(), valid ? 1 : 0);
  EXPECT_EQ(decoded.x[1][1][5][5].item<double>(), valid ? valid->first : -3);
  if (valid) {
    EXPECT_ERROR(p->solve(x.narrow(1, 1, 1)), ExitCode::data, GetParam().scalar + " = -3");
    EXPECT_TRUE(all_finite(p->solve(constant(valid->first, 16)) + p->solve(constant(valid->second, 16))));
  }
}

TEST_P(ClosedForms, WrongValuesRaiseTheResidual) {
  const PdePtr p = pde(GetParam().name, 64);
  const Tensor x = p->sample(6, 0, 8);
  const auto rel = [&](const Tensor& y) { return residual_statistics(*p, y).rel_residual(); };
  const Tensor transposed = torch::cat({x.narrow(1, 0, 1).transpose(2, 3), x.narrow(1, 1, 1)}, 1);
  const Tensor rough = torch::cat(
      {x.narrow(1, 0, 1) * (1 + 0.01 * torch::randn({8, 1, 64, 64}, torch::kFloat64)), x.narrow(1, 1, 1)}, 1);
  EXPECT_GT(rel(transposed), 5 * rel(x));
  EXPECT_GT(rel(rough), 5 * rel(x));
}

TEST_P(ClosedForms, ErrorsNameTheCulprit) {
  const std::string& name = GetParam().name;
  const PdePtr p = pde(name, 32);
  EXPECT_ERROR(p->residual(torch::zeros({8, 3, 64, 64})), ExitCode::data,
               "[" + name + "] expected (B,2,32,32), got (8,3,64,64)");
  EXPECT_ERROR(p->constrain(torch::zeros({8, 1, 32, 32})), ExitCode::data, "(8,1,32,32)");
  EXPECT_ERROR(p->solve(torch::ones({2, 2, 32, 32})), ExitCode::data, "(2,2,32,32)");
  EXPECT_ERROR(p->solve(torch::full({1, 1, 32, 32}, NAN)), ExitCode::data, "finite");
  EXPECT_ERROR(pde(name, 32, {{"viscosity", 1}}), ExitCode::usage, "viscosity");
}

}  // namespace
}  // namespace piddm
