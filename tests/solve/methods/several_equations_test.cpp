// Methods on a PDE of several equations and solution channels.

#include "piddm/solve/methods/equation_rows.h"
#include "tests/flux_darcy.h"
#include "tests/solve/methods/quick_piddm.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::relative_error;

constexpr int64_t kN = 16;

Model flux_student() {
  Model model;
  model.kind = ModelKind::student;
  model.pde = testing::flux_darcy(kN);
  model.process = process_registry().at("linear")();
  model.normalizer = Normalizer::fit(model.pde->sample(5, 0, 16), model.pde->channels());
  model.network = make_network("fno", {{"channels", 4}, {"modes", {4, 4}}, {"width", 4}, {"layers", 1}}, 1);
  return model;
}

Tensor noise_like(const Tensor& x, uint64_t seed) {
  return normal(seed, Stream::splits, 0, x.size(0), x.sizes().slice(1).vec(), torch::kFloat64);
}

/// A solution with a = 6, where the fast solver is exact.
Tensor even_sample(const Pde& pde) {
  const auto a = torch::full({2, 1, kN, kN}, 6, torch::kFloat64);
  return torch::cat({pde.solve(a), a}, 1);
}

TEST(SeveralEquations, RowsAreSplitAsTheyWereJoined) {
  const auto model = flux_student();
  const EquationRows rows(model.pde, model.normalizer);
  const auto z = noise_like(torch::empty({2, 4, kN, kN}), 1);
  const auto h = rows(z), edge = rows.boundary(h);
  const auto fields = rows.equations(h);
  const auto r = model.pde->residual(model.normalizer.to_physical(z));
  ASSERT_EQ(fields.size(), 3U);
  for (size_t i = 0; i < fields.size(); ++i)
    EXPECT_LT(relative_error(fields[i], model.pde->equations()[i].scale * r.fields[i].interior), 1e-14) << i;
  EXPECT_LT(relative_error(edge.flatten(1), r.boundary / model.normalizer.std(0)), 1e-14);
  EXPECT_LT(relative_error(residual_norm(model, z, 0), model.pde->pde_error(model.normalizer.to_physical(z))), 1e-14);
}

TEST(SeveralEquations, TheImpliedErrorOfRowsIsThatOfEveryChannelInItsUnit) {
  const auto model = flux_student();
  const EquationRows rows(model.pde, model.normalizer);
  const auto truth = even_sample(*model.pde);
  auto wrong = truth + 0.1 * noise_like(truth, 1);
  wrong.select(1, 3).fill_(6);
  wrong = model.pde->constrain(wrong);
  const auto z = model.normalizer.to_network(wrong);
  const auto error = model.pde->solution(z - model.normalizer.to_network(truth));
  EXPECT_LT(relative_error(rows.implied_error(rows(z), &Normalizer::scale), error), 1e-9);
}

// P^T P, P the implied error: its quadratic form is that of P, whatever the rows.
TEST(SeveralEquations, TheNormalSolveIsTheSquareOfTheImpliedError) {
  const auto model = flux_student();
  const EquationRows rows(model.pde, model.normalizer);
  const auto h = rows(noise_like(torch::empty({1, 4, kN, kN}), 1)), g = noise_like(h, 2), w = noise_like(h, 3);
  const auto error = [&](const Tensor& x) { return rows.implied_error(x, &Normalizer::scale); };
  const torch::NoGradGuard no_grad;
  const auto solved = rows.solve_normal(g);
  const auto fields = [&](const Tensor& x) { return x.narrow(3, 0, x.size(3) - 2 * kN); };
  const double left = (fields(solved) * fields(w)).sum().item<double>();
  EXPECT_NEAR(left, (error(g) * error(w)).sum().item<double>(), 1e-10 * fields(solved).norm().item<double>());
  EXPECT_TRUE(torch::equal(rows.boundary(solved), rows.boundary(g)));
}

TEST(SeveralEquations, AProjectionMeetsThemAll) {
  const auto model = flux_student();
  const EquationRows rows(model.pde, model.normalizer);
  const auto truth = model.normalizer.to_network(model.pde->sample(9, 0, 2)), z = truth + 0.1 * noise_like(truth, 1);
  const auto free = torch::ones_like(z);
  const auto found = project(rows, z, free, {.newton = 20, .iterations = 500, .tolerance = 1e-10});
  const auto before = model.pde->equation_errors(model.pde->residual(model.normalizer.to_physical(z)));
  const auto after = model.pde->equation_errors(model.pde->residual(model.normalizer.to_physical(found.z)));
  for (size_t i = 0; i < 3; ++i) EXPECT_LT(after[i].max().item<double>(), 1e-14 * before[i].min().item<double>()) << i;
}

// Misfit and the mean over the equations by hand; preconditioned, the mean over the solution channels.
TEST(SeveralEquations, TheTaskWeighsThemTogether) {
  const auto model = flux_student();
  auto options = testing::quick();
  options.lambda = 0.5;
  const auto observation =
      observe(Task::forward, model.pde->sample(5, 0, 2).to(torch::kFloat32), *model.pde, testing::kSeed);
  const auto observed = model.normalizer.to_network(observation.values);
  const auto e = model.latents(testing::kSeed, Stream::tasks, 0, 2);
  const torch::NoGradGuard no_grad;
  const auto z = Student(model)(e);
  const auto misfit = (z - observed).select(1, 3).square().mean({1, 2});
  const auto mixed = torch::cat({z.narrow(1, 0, 3), observed.narrow(1, 3, 1)}, 1);
  const auto x = model.normalizer.to_physical(mixed);
  const auto loss = [&](bool precondition) {
    options.precondition = precondition;
    return PiddmMethod(model, options).task_loss(e, exact_target(observed, observation.mask));
  };
  EXPECT_LT(relative_error(loss(false), misfit + 0.5 * model.pde->pde_error(x)), 1e-5);
  auto error = model.pde->precondition(model.pde->residual(x));
  for (int64_t c = 0; c < 3; ++c) error.select(1, c) /= model.normalizer.std(c);
  EXPECT_LT(relative_error(loss(true), misfit + 0.5 * error.square().mean({1, 2, 3})), 1e-5);
}

}  // namespace
}  // namespace piddm
