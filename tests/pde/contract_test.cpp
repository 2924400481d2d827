// What every PDE must do, whatever its equations; on the GPU too where there is one.

#include "piddm/pde/physics_loss.h"
#include "tests/flux_darcy.h"
#include "tests/pde/rectangle.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::relative_error;

constexpr uint64_t kSeed = 3;
constexpr int64_t kGrid = 16, kFineGrid = 64;  // the finer one where the error of a stencil would be in the way

/// On a square of the PDE's own lengths, or on a rectangle of others.
class Contract : public ::testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  static std::string name() { return std::get<0>(GetParam()); }
  static PdePtr pde(int64_t side = kGrid) {
    return std::get<1>(GetParam()) ? testing::on_rectangle(name(), {side, side * 5 / 4})
                                   : testing::any_pde(name(), side);
  }

  /// A true sample with smooth errors of 5 % of each channel's size, so that no term of the residual vanishes.
  static Tensor disturbed(const Pde& p, int64_t count) {
    const auto x = p.sample(kSeed, 0, count);
    const auto share = [](int64_t n) { return torch::arange(n, torch::kFloat64) / static_cast<double>(n); };
    const auto wave =
        torch::sin(5 * share(p.grid().height()) + 1).unsqueeze(1) * torch::cos(4 * share(p.grid().width()));
    return x + 0.05 * x.square().mean({2, 3}, true).sqrt() * wave;
  }
};

TEST_P(Contract, CoefficientsAndSolutionsDoNotDependOnTheBatch) {
  const auto p = pde();
  const auto whole = p->sample(kSeed, 0, 5);
  EXPECT_TRUE(torch::equal(torch::cat({p->sample(kSeed, 0, 1), p->sample(kSeed, 1, 4)}), whole));
  EXPECT_FALSE(torch::equal(p->sample(kSeed + 1, 0, 5), whole));
  EXPECT_TRUE(all_finite(whole));
}

TEST_P(Contract, PartsOfTheResidualFitTogether) {
  const auto p = pde(kFineGrid);
  const auto x = disturbed(*p, 3);
  const auto r = p->residual(x);
  ASSERT_EQ(r.fields.size(), p->equations().size());
  for (const auto& field : r.fields) {
    EXPECT_EQ(field.interior.dim(), 4);
    EXPECT_EQ(field.interior.sizes(), field.reference.sizes());
    EXPECT_TRUE(!field.smooth.defined() || field.smooth.sizes() == field.interior.sizes());
  }
  const auto loss = physics_loss(*p, x);
  EXPECT_TRUE(torch::equal(loss.pde_error, p->pde_error(x)));
  EXPECT_EQ(loss.boundary.defined(), r.boundary.defined());
  EXPECT_EQ(p->given_boundary().sizes(),
            torch::IntArrayRef({p->num_solution_channels(), p->grid().height(), p->grid().width()}));
  EXPECT_GT(loss.pde_error.min().item<double>(), p->pde_error(p->sample(kSeed, 0, 3)).min().item<double>());
}

TEST_P(Contract, TheResidualIsDifferentiableInEveryChannel) {
  const auto p = pde();
  const auto x = disturbed(*p, 1);
  for (int64_t c = 0; c < p->num_channels(); ++c) {
    const auto loss = [&](const Tensor& field) {
      auto parts = x.unbind(1);
      parts[static_cast<size_t>(c)] = field;
      const auto r = p->residual(torch::stack(parts, 1));
      auto total = torch::zeros({}, torch::kFloat64);
      for (size_t i = 0; i < r.fields.size(); ++i)
        total = total + (r.fields[i].interior * p->equations()[i].scale).square().sum();
      return r.boundary.defined() ? total + r.boundary.square().sum() : total;
    };
    EXPECT_LT(testing::gradient_error(loss, x.select(1, c).clone(), 8), 2e-5) << p->channels()[c].name;
  }
}

TEST_P(Contract, DecodingATrueSampleKeepsIt) {
  const auto p = pde();
  const auto x = p->sample(kSeed, 0, 2);
  const auto decoded = p->decode(x);
  EXPECT_LT(relative_error(decoded.x, x), 1e-9);
  EXPECT_LT(decoded.moved.max().item<double>(), 1e-9);
  EXPECT_EQ(decoded.clamped.sum().item<int64_t>(), 0);
}

TEST_P(Contract, DecodingSolvesForTheSamplesOwnCoefficients) {
  const auto p = pde();
  const auto x = disturbed(*p, 2);
  const auto decoded = p->decode(x);
  const auto a = p->admissible(p->coefficients(x)).coefficients;
  EXPECT_LT(relative_error(p->coefficients(decoded.x), a), 1e-14);
  EXPECT_LT(relative_error(p->solution(decoded.x), p->solve(a)), 1e-9);
  EXPECT_GT(decoded.moved.min().item<double>(), 1e-4);
}

TEST_P(Contract, TheConstraintIsAProjection) {
  const auto p = pde();
  const auto x = disturbed(*p, 2), once = p->constrain(x);
  // Of a text without a given value on nodes and an initial state in the picture nothing is imposed.
  if (p->options().definition.absent() || p->given_boundary().any().item<bool>()) {
    EXPECT_GT(relative_error(once, x), 1e-6);
  } else {
    EXPECT_TRUE(torch::equal(once, x));
  }
  EXPECT_LT(relative_error(p->constrain(once), once), 1e-14);
}

TEST_P(Contract, RefusesWrongShapesTypesAndParameters) {
  const auto p = pde();
  const auto x = p->sample(kSeed, 0, 1);
  EXPECT_ERROR(p->residual(x.narrow(2, 0, 8)), ExitCode::data, "[" + name() + "] expected (B,");
  EXPECT_ERROR(p->residual(x.to(torch::kFloat16)), ExitCode::data, "float32 or float64");
  EXPECT_ERROR(p->solve(x), ExitCode::data, "expected coefficients");
  EXPECT_ERROR(p->decode(x * NAN), ExitCode::numerics, "cannot decode");
  if (name() == testing::FluxDarcy::kName) return;  // not registered
  EXPECT_ERROR(testing::any_pde(name(), 16, {{"no_such", 1}}), ExitCode::usage, "no_such");
}

TEST_P(Contract, AChangedParameterChangesTheResidualOfItsOwnDataOnly) {
  const auto p = pde(kFineGrid);
  const auto x = p->sample(kSeed, 0, 2);
  for (const auto& parameter : p->parameters()) {
    if (!parameter.choices.empty()) continue;
    const double factor = parameter.name == "duration" ? 0.8 : 1.2;  // fronts reach the end of the domain later on
    auto changed = p->options().parameters;
    changed[parameter.name] = factor * parameter.value.get<double>();
    const auto other = testing::any_pde(name(), p->grid(), changed);
    const auto norm = [](const Pde& q, const Tensor& y) {
      const auto r = q.residual(y);
      const double inside = mean_of(q.equation_errors(r)).mean().item<double>();
      return r.boundary.defined() ? inside + r.boundary.square().mean().item<double>() : inside;
    };
    EXPECT_NE(norm(*other, x), norm(*p, x)) << parameter.name;
    EXPECT_LT(norm(*other, other->sample(kSeed, 0, 2)), norm(*other, x)) << parameter.name;
  }
}

TEST_P(Contract, Float32AgreesWithFloat64) {
  const auto p = pde(32);
  const auto x = disturbed(*p, 2);
  EXPECT_LT(relative_error(p->residual(x.to(torch::kFloat32)).fields[0].interior, p->residual(x).fields[0].interior),
            1e-3);
}

TEST_P(Contract, TheGpuAgreesWithTheCpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  const auto p = pde(32);
  const auto x = disturbed(*p, 4), on_gpu = x.to(torch::kCUDA);
  const auto here = p->residual(x), there = p->residual(on_gpu);
  ASSERT_TRUE(there.fields[0].interior.is_cuda());
  EXPECT_LT(relative_error(there.fields[0].interior.cpu(), here.fields[0].interior), 1e-10);
  if (here.boundary.defined()) {
    EXPECT_LT(relative_error(there.boundary.cpu(), here.boundary), 1e-10);
  }
  const auto gradient = [&](const Tensor& fields) {
    const auto leaf = fields.detach().clone().requires_grad_(true);
    return torch::autograd::grad({p->pde_error(leaf).sum()}, {leaf})[0].cpu();
  };
  EXPECT_LT(relative_error(gradient(on_gpu), gradient(x)), 1e-9);
  const auto float_x = x.to(torch::kFloat32);
  EXPECT_LT(relative_error(p->residual(float_x.to(torch::kCUDA)).fields[0].interior.cpu(), here.fields[0].interior),
            1e-3);
  const auto solved = p->sample(kSeed, 0, 4, nullptr, torch::kCUDA);
  ASSERT_TRUE(solved.is_cuda());
  EXPECT_LT(relative_error(solved.cpu(), p->sample(kSeed, 0, 4)), 1e-6);
  EXPECT_LT(relative_error(p->constrain(on_gpu).cpu(), p->constrain(x)), 1e-12);
  EXPECT_LT(relative_error(p->decode(on_gpu).x.cpu(), p->decode(x).x), 1e-6);
  if (p->has_preconditioner()) {
    EXPECT_LT(relative_error(p->precondition(there).cpu(), p->precondition(here)), 1e-9);
  }
}

// What Channel::zero_on says is what the other members of the PDE show.
TEST_P(Contract, ChannelsAreZeroWhereTheySay) {
  const auto p = pde(kFineGrid);
  const int64_t h = p->grid().height(), w = p->grid().width();
  auto ring = torch::ones({h, w}, torch::kBool);
  ring.narrow(0, 1, h - 2).narrow(1, 1, w - 2).fill_(false);
  const auto x = p->sample(0, 0, 1)[0];
  const auto constrained = p->constrain(torch::ones({1, p->num_channels(), h, w}, torch::kFloat64))[0];
  for (int64_t c = 0; c < p->num_channels(); ++c) {
    const auto& channel = p->channels()[static_cast<size_t>(c)];
    const auto largest_on_ring = [&](const Tensor& fields) {
      return fields[c].masked_select(ring).abs().max().item<double>();
    };
    const bool ring_is_given = channel.role == Role::solution && p->given_boundary()[c].equal(ring);
    EXPECT_EQ(channel.zero_on == ZeroOn::ring, ring_is_given && largest_on_ring(constrained) == 0) << channel.name;
    if (channel.zero_on == ZeroOn::ring) {
      EXPECT_EQ(largest_on_ring(x), 0) << channel.name;
    }
    if (channel.zero_on != ZeroOn::wall) continue;
    const auto at_wall = 1.5 * x[c][0] - 0.5 * x[c][1];  // extrapolated by half a cell
    EXPECT_LT(at_wall.abs().max().item<double>(), 0.1 * x[c].abs().max().item<double>()) << channel.name;
    for (const auto& axis : p->axes()) EXPECT_EQ(axis.kind, AxisKind::cells);
  }
}

std::string test_name(const ::testing::TestParamInfo<std::tuple<std::string, bool>>& test) {
  auto name = std::get<0>(test.param) + (std::get<1>(test.param) ? "_rectangle" : "");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Every, Contract,
                         ::testing::Combine(::testing::ValuesIn(testing::every_pde()), ::testing::Bool()), test_name);
INSTANTIATE_TEST_SUITE_P(ByText, Contract,
                         ::testing::Combine(::testing::ValuesIn(testing::example_pdes()), ::testing::Bool()),
                         test_name);

}  // namespace
}  // namespace piddm
