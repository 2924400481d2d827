#include "piddm/model/student.h"

#include "piddm/model/grid_transfer.h"
#include "tests/model/gradient.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::all_heads;
using testing::gradient_error;
using testing::parameter_gradient_error;
using testing::relative_error;
using testing::tiny_student;

constexpr int64_t kGrid = testing::kTinyGrid;
constexpr double kRounding = 1e-12;

HeadOptions heads(bool band_limited, bool smooth, bool bounded) {
  HeadOptions h;
  h.band_limited = band_limited;
  h.smooth = smooth;
  h.bounded = bounded;
  return h;
}

/// cos(2 pi (k1 i + k2 j)/n + 1).
Tensor wave(int64_t k1, int64_t k2) {
  const auto i = torch::arange(kGrid, torch::kFloat64);
  return torch::cos(2 * M_PI * (k1 * i.unsqueeze(1) + k2 * i.unsqueeze(0)) / kGrid + 1);
}

/// S[k-1,i] = c_k sin(pi k (i+1/2)/n), orthonormal.
Tensor sines(int64_t n) {
  const auto k = torch::arange(1, n + 1, torch::kFloat64).unsqueeze(1);
  const auto s = torch::sin(M_PI * k * (torch::arange(n, torch::kFloat64).unsqueeze(0) + 0.5) / static_cast<double>(n));
  return s / s.norm(2, 1, true);
}

class StudentTest : public ::testing::Test {
 protected:
  StudentTest() { model.network->to(torch::kFloat64); }

  /// Output in physical units.
  Tensor physical(const HeadOptions& h, const Tensor& latent) const {
    const torch::NoGradGuard no_grad;
    return model.normalizer.to_physical(Student(model, h)(latent));
  }
  Tensor solution(const HeadOptions& h) const { return physical(h, e).select(1, 0); }
  Tensor coefficient(const HeadOptions& h) const { return physical(h, e).select(1, 1); }

  Model model = tiny_student();
  const Tensor e = model.latents(3, Stream::latents, 0, 4).to(torch::kFloat64);
  const HeadOptions plain;
};

TEST_F(StudentTest, PlainIsNoiseMinusVelocity) {
  const auto v = (*model.network)(e, torch::ones({1}, torch::kFloat64));
  EXPECT_TRUE(Student(model, plain)(e).equal(e - v));
}

TEST_F(StudentTest, SeveralEvaluationsAreEulerStepsAndACleanEstimate) {
  const auto at = [](double t) { return torch::full({1}, t, torch::kFloat64); };
  auto& v = *model.network;
  HeadOptions three;
  three.evaluations = 3;
  const auto first = e - v(e, at(1)) / 3;
  const auto second = first - v(first, at(2.0 / 3)) / 3;
  EXPECT_LT(relative_error(Student(model, three)(e), second - v(second, at(1.0 / 3)) / 3), kRounding);
  const WorkMeter meter(v);
  Student(model, three)(e).sum().backward();
  EXPECT_EQ(meter.spent().forward, 12);
  EXPECT_EQ(meter.spent().backward, 12);
  three.evaluations = 0;
  EXPECT_ERROR(Student(model, three), ExitCode::usage, "heads.evaluations");
}

TEST_F(StudentTest, TakesTheHeadsOfItsModel) {
  EXPECT_TRUE(Student(model)(e).equal(Student(model, all_heads())(e)));
  EXPECT_GT(relative_error(Student(model)(e), Student(model, plain)(e)), 1e-2);
}

TEST_F(StudentTest, CostsOneEvaluationASample) {
  const WorkMeter meter(*model.network);
  const Student student(model);
  student(e).sum().backward();
  EXPECT_EQ(meter.spent().forward, 4);
  EXPECT_EQ(meter.spent().backward, 4);
}

TEST_F(StudentTest, SmoothHeadFiltersTheSineModes) {
  const auto s = sines(kGrid), k = torch::arange(1, kGrid + 1, torch::kFloat64);
  const auto lambda = 4.0 * kGrid * kGrid * torch::sin(M_PI * k / (2 * kGrid)).square();
  auto h = heads(false, true, false);
  h.smooth_modes = 5;
  const auto filter = 1 / (1 + (lambda.unsqueeze(0) + lambda.unsqueeze(1)) / std::pow(5 * M_PI, 2));
  const auto before = s.matmul(solution(plain)).matmul(s.t()), after = s.matmul(solution(h)).matmul(s.t());
  EXPECT_LT(relative_error(after, before * filter), kRounding);
  EXPECT_LT(relative_error(coefficient(h), coefficient(plain)), kRounding);
}

TEST_F(StudentTest, SmoothHeadVanishesOnTheWallToFirstOrder) {
  std::vector<double> on_wall;  // linear extrapolation to the wall over the RMS of the field
  for (const int64_t n : {16, 64}) {
    model.pde = make_pde({"darcy", n});
    auto h = heads(false, true, false);
    h.smooth_modes = 1;
    const torch::NoGradGuard no_grad;
    const auto latent = model.latents(3, Stream::latents, 0, 8).to(torch::kFloat64);
    const auto u = model.normalizer.to_physical(Student(model, h)(latent)).select(1, 0);
    const auto wall = 1.5 * u.select(1, 0) - 0.5 * u.select(1, 1);
    on_wall.push_back((wall.square().mean() / u.square().mean()).sqrt().item<double>());
  }
  EXPECT_LT(on_wall[0], 0.1);
  EXPECT_LT(on_wall[1], on_wall[0] / 4);
}

TEST_F(StudentTest, SmoothHeadOfANodeGridFiltersTheInnerNodesAndClearsTheRing) {
  const int64_t n = kGrid - 2;
  const auto k = torch::arange(1, n + 1, torch::kFloat64);
  const auto s = std::sqrt(2.0 / (n + 1)) * torch::sin(M_PI * k.unsqueeze(1) * k.unsqueeze(0) / (n + 1));
  const auto lambda = 4.0 * (n + 1) * (n + 1) * torch::sin(M_PI * k / (2 * (n + 1))).square();
  auto h = heads(false, true, false);
  h.smooth_modes = 5;
  const auto filter = 1 / (1 + (lambda.unsqueeze(0) + lambda.unsqueeze(1)) / std::pow(5 * M_PI, 2));
  for (const char* pde : {"poisson", "helmholtz"}) {
    model.pde = make_pde({pde, kGrid});
    const auto before = solution(plain).narrow(1, 1, n).narrow(2, 1, n), after = solution(h);
    EXPECT_LT(
        relative_error(after.narrow(1, 1, n).narrow(2, 1, n), s.matmul(s.matmul(before).matmul(s) * filter).matmul(s)),
        kRounding);
    for (const int64_t edge : {int64_t{0}, kGrid - 1}) {
      EXPECT_LT(after.select(1, edge).abs().max().item<double>(), 1e-15);
      EXPECT_LT(after.select(2, edge).abs().max().item<double>(), 1e-15);
    }
    EXPECT_LT(relative_error(coefficient(h), coefficient(plain)), kRounding);
  }
}

TEST_F(StudentTest, SmoothHeadLeavesPdesWithoutAZeroWallAlone) {
  model.pde = make_pde({"burgers", kGrid});
  EXPECT_LT(relative_error(solution(heads(false, true, false)), solution(plain)), kRounding);
}

TEST_F(StudentTest, BoundedHeadHasItsClosedForm) {
  auto h = heads(false, false, true);
  h.bounded_gain = 3;
  const auto a = coefficient(plain);
  EXPECT_LT(relative_error(coefficient(h), 7.5 + 4.5 * torch::tanh(3 * (a - 7.5) / 4.5)), kRounding);
  EXPECT_LT(relative_error(solution(h), solution(plain)), kRounding);
}

TEST_F(StudentTest, BoundedHeadStaysBetweenTheTwoValues) {
  const auto a = coefficient(heads(false, false, true)), raw = coefficient(plain);
  EXPECT_LT(raw.min().item<double>(), 3);
  EXPECT_GT(raw.max().item<double>(), 12);
  EXPECT_GT(a.min().item<double>(), 3);
  EXPECT_LT(a.max().item<double>(), 12);
}

TEST_F(StudentTest, SharpHeadHasTheTwoValuesOnly) {
  auto h = heads(false, false, true);
  h.sharp = true;
  const auto a = coefficient(h), raw = coefficient(plain);
  const auto high = raw >= 7.5;
  EXPECT_TRUE(high.any().item<bool>() && !high.all().item<bool>());
  EXPECT_LT((a - torch::where(high, 12.0, 3.0)).abs().max().item<double>(), kRounding);
  EXPECT_TRUE(solution(h).equal(solution(heads(false, false, true))));
}

TEST_F(StudentTest, SharpHeadHasTheGradientOfTheBoundedOne) {
  auto h = heads(false, false, true);
  const auto weights = torch::linspace(-1, 1, e.numel(), torch::kFloat64).view_as(e);
  const auto gradient = [&] {
    model.network->zero_grad();
    (Student(model, h)(e) * weights).sum().backward();
    std::vector<Tensor> parts;
    for (const auto& p : model.network->parameters()) parts.push_back(p.grad().clone().flatten());
    return torch::cat(parts);
  };
  const auto soft = gradient();
  h.sharp = true;
  EXPECT_LT(relative_error(gradient(), soft), kRounding);
}

TEST_F(StudentTest, BoundedHeadSaturatesAtTheTwoValues) {
  const auto a = physical(heads(false, false, true), 1e6 * e).select(1, 1);
  EXPECT_NEAR(a.min().item<double>(), 3, 1e-12);
  EXPECT_NEAR(a.max().item<double>(), 12, 1e-12);
}

TEST_F(StudentTest, ConstrainedHeadImposesThePdesConstraint) {
  HeadOptions h = plain;
  h.constrained = true;
  const auto x = physical(h, e), raw = physical(plain, e);
  EXPECT_LT(relative_error(x, model.pde->constrain(raw)), kRounding);
  EXPECT_GT(relative_error(x, raw), 1e-5);
  EXPECT_LT(gradient_error([&](const Tensor& v) { return Student(model, h)(v).pow(3).sum(); }, e), 1e-6);
}

HeadOptions correcting(int64_t iterations, const HeadOptions& other) {
  HeadOptions h = other;
  h.corrector = iterations;
  return h;
}

/// RMS of the equation's residual, mean over the samples.
double residual_of(const Pde& pde, const Tensor& x) {
  return pde.residual(x).fields.front().interior.square().mean({1, 2, 3}).sqrt().mean().item<double>();
}

TEST_F(StudentTest, CorrectorSolvesForTheStudentsOwnCoefficient) {
  const auto raw = physical(all_heads(), e), corrected = physical(correcting(5, all_heads()), e);
  EXPECT_LT(relative_error(corrected, model.pde->correct(raw, 5)), kRounding);
  EXPECT_LT(relative_error(corrected.select(1, 1), raw.select(1, 1)), kRounding);
  double before = residual_of(*model.pde, raw);
  for (const int64_t k : {2, 5, 10}) {
    const double after = residual_of(*model.pde, physical(correcting(k, all_heads()), e));
    EXPECT_LT(after, before / 4) << k;
    before = after;
  }
  EXPECT_LT(relative_error(physical(correcting(45, all_heads()), e), model.pde->decode(raw).x), 1e-10);
}

TEST_F(StudentTest, ASoftSampleIsFinishedByTheCutAndTheCorrector) {
  auto h = correcting(4, all_heads());
  h.sharp = true;
  const torch::NoGradGuard no_grad;
  const Student student(model, h);
  const auto soft = student.soft(e);
  EXPECT_TRUE(soft.equal(Student(model, all_heads())(e)));
  EXPECT_LT(relative_error(student.finished(soft), student(e)), kRounding);
  const auto x = model.normalizer.to_physical(student(e));
  EXPECT_TRUE(((x.select(1, 1) - 3).abs() < 1e-9).logical_or((x.select(1, 1) - 12).abs() < 1e-9).all().item<bool>());
  EXPECT_GT(relative_error(x.select(1, 0), model.normalizer.to_physical(soft).select(1, 0)), 1e-3);
  EXPECT_TRUE(Student(model, all_heads()).finished(soft).equal(soft));
}

TEST_F(StudentTest, CorrectorGoesBeforeTheConstraint) {
  auto h = correcting(3, all_heads());
  h.constrained = true;
  EXPECT_LT(relative_error(physical(h, e), model.pde->constrain(physical(correcting(3, all_heads()), e))), kRounding);
}

TEST_F(StudentTest, CorrectedSolutionsVanishOnTheWall) {
  std::vector<double> on_wall;  // as for the smooth head
  for (const int64_t n : {16, 64}) {
    model.pde = make_pde({"darcy", n});
    const auto latent = model.latents(3, Stream::latents, 0, 8).to(torch::kFloat64);
    const auto u = physical(correcting(5, all_heads()), latent).select(1, 0);
    const auto wall = 1.5 * u.select(1, 0) - 0.5 * u.select(1, 1);
    on_wall.push_back((wall.square().mean() / u.square().mean()).sqrt().item<double>());
  }
  EXPECT_LT(on_wall[0], 0.1);
  EXPECT_LT(on_wall[1], on_wall[0] / 2);
}

TEST_F(StudentTest, CorrectorOfADirectSolverIsExactAfterOneIteration) {
  for (const char* pde : {"poisson", "helmholtz"}) {
    model.pde = make_pde({pde, kGrid});
    const auto x = physical(correcting(1, heads(true, true, false)), e);
    EXPECT_LT(relative_error(x, model.pde->decode(x).x), 1e-11) << pde;
  }
}

TEST_F(StudentTest, CorrectorIsRefusedWhereThePdeHasNone) {
  model.pde = make_pde({"burgers", kGrid});
  EXPECT_ERROR(Student(model, correcting(2, plain)), ExitCode::usage, "heads.corrector: burgers has no solver");
}

TEST_F(StudentTest, CorrectorWorksOnRectanglesAndOnOtherGrids) {
  model.pde = make_pde({"darcy", GridSize(24, 48), {{"length_y", 2.0}}});
  const auto latent = model.latents(3, Stream::latents, 0, 2).to(torch::kFloat64);
  EXPECT_LT(residual_of(*model.pde, physical(correcting(5, all_heads()), latent)),
            residual_of(*model.pde, physical(all_heads(), latent)) / 20);
  model = tiny_student(correcting(5, all_heads()));
  const auto fine = on_grid(model, GridSize(48, 96));
  const torch::NoGradGuard no_grad;
  const auto noise = fine.latents(3, Stream::latents, 0, 2);
  const auto out = fine.normalizer.to_physical(Student(fine)(noise));
  EXPECT_EQ(out.sizes(), torch::IntArrayRef({2, 2, 48, 96}));
  const auto raw = fine.normalizer.to_physical(Student(fine, all_heads())(noise));
  EXPECT_LT(residual_of(*fine.pde, out), residual_of(*fine.pde, raw) / 10);
}

TEST_F(StudentTest, FrozenCoefficientsGetNoGradientFromTheCorrectedSolution) {
  Student student(model, correcting(3, all_heads()));
  const auto bias = model.network->named_parameters()["project2_bias"];
  const auto of_coefficient = [&] {
    return torch::autograd::grad({student(e).select(1, 0).square().sum()}, {bias})[0][1].abs().item<double>();
  };
  const auto before = student(e).detach();
  EXPECT_GT(of_coefficient(), 1e-6);
  student.freeze_coefficients();
  EXPECT_EQ(of_coefficient(), 0);
  EXPECT_TRUE(torch::equal(student(e).detach(), before));
}

TEST_F(StudentTest, CorrectorPassesGradientsOfLatentAndParameters) {
  const Student student(model, correcting(3, all_heads()));
  EXPECT_LT(gradient_error([&](const Tensor& v) { return student(v).pow(3).sum(); }, e), 1e-6);
  for (const auto& entry : model.network->named_parameters())
    EXPECT_LT(parameter_gradient_error([&] { return student(e).pow(3).sum(); }, entry.value()), 1e-6) << entry.key();
}

TEST_F(StudentTest, BandLimitedIgnoresModesOutsideTheBlock) {
  // The network has 4x4 modes: k1 in -2..1, k2 in 0..2.
  for (const auto& [k1, k2] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 0}, {0, 3}, {-3, 1}, {2, 1}, {8, 8}, {5, -7}}) {
    const auto moved = e + wave(k1, k2);
    EXPECT_LT(relative_error(Student(model)(moved), Student(model)(e)), kRounding) << k1 << " " << k2;
    EXPECT_GT(relative_error(Student(model, plain)(moved), Student(model, plain)(e)), 1e-2) << k1 << " " << k2;
  }
}

TEST_F(StudentTest, BandLimitedSeesTheModesOfTheBlock) {
  for (const auto& [k1, k2] : std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 0}, {2, 0}, {-2, 1}, {1, 2}})
    EXPECT_GT(relative_error(Student(model)(e + wave(k1, k2)), Student(model)(e)), 1e-2) << k1 << " " << k2;
}

TEST_F(StudentTest, BandLimitedOfALatentInTheBlockIsPlain) {
  const auto latent = (wave(0, 0) + wave(1, 1) - wave(-2, 2)).expand({1, 2, kGrid, kGrid});
  EXPECT_LT(relative_error(Student(model, heads(true, false, false))(latent), Student(model, plain)(latent)),
            kRounding);
}

TEST_F(StudentTest, BandModesNarrowTheBlockAndNeverWidenIt) {
  auto narrow = all_heads(), wide = all_heads();
  narrow.band_modes = 2;  // k1 in -1..0, k2 in 0..1
  wide.band_modes = 100;
  for (const auto& [k1, k2] : std::vector<std::pair<int64_t, int64_t>>{{2, 0}, {-2, 1}, {1, 2}})
    EXPECT_LT(relative_error(Student(model, narrow)(e + wave(k1, k2)), Student(model, narrow)(e)), kRounding) << k1;
  for (const auto& [k1, k2] : std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {-1, 0}, {-1, 1}, {0, 1}})
    EXPECT_GT(relative_error(Student(model, narrow)(e + wave(k1, k2)), Student(model, narrow)(e)), 1e-2) << k1;
  EXPECT_TRUE(Student(model, wide)(e).equal(Student(model)(e)));
}

TEST_F(StudentTest, GradientOfTheLatentMatchesDifferences) {
  for (const auto& h :
       {plain, heads(true, false, false), heads(false, true, false), heads(false, false, true), all_heads()}) {
    const Student student(model, h);
    EXPECT_LT(gradient_error([&](const Tensor& v) { return student(v).pow(3).sum(); }, e), 1e-6);
  }
}

TEST_F(StudentTest, GradientOfTheParametersMatchesDifferences) {
  const Student student(model);
  for (const auto& entry : model.network->named_parameters())
    EXPECT_LT(parameter_gradient_error([&] { return student(e).pow(3).sum(); }, entry.value()), 1e-6) << entry.key();
}

TEST_F(StudentTest, Float32AgreesWithFloat64) {
  const auto exact = Student(model)(e);
  model.network->to(torch::kFloat32);
  const auto rounded = Student(model)(e.to(torch::kFloat32));
  EXPECT_EQ(rounded.scalar_type(), torch::kFloat32);
  EXPECT_LT(relative_error(rounded, exact), 1e-5);
}

TEST_F(StudentTest, WrongHeadOptionsAreRefused) {
  auto h = all_heads();
  h.smooth_modes = 0;
  EXPECT_ERROR(Student(model, h), ExitCode::usage, "heads.smooth_modes: must be more than 0, got 0");
  h = all_heads();
  h.band_modes = -1;
  EXPECT_ERROR(Student(model, h), ExitCode::usage, "heads.band_modes: must not be negative, got -1");
  h.band_modes = 2, h.band_limited = false;
  EXPECT_ERROR(Student(model, h), ExitCode::usage, "heads.band_modes: needs heads.band_limited");
  h = all_heads();
  h.bounded_gain = -1;
  EXPECT_ERROR(Student(model, h), ExitCode::usage, "heads.bounded_gain: must be more than 0, got -1");
  h.sharp = true, h.bounded = false, h.bounded_gain = 2;
  EXPECT_ERROR(Student(model, h), ExitCode::usage, "heads.sharp: needs heads.bounded");
  h = all_heads();
  h.corrector = -1;
  EXPECT_ERROR(Student(model, h), ExitCode::usage, "heads.corrector: must be at least 0 and at most 100, got -1");
}

}  // namespace
}  // namespace piddm
