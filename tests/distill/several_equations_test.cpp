// Every equation of a PDE acts in the loss of a student.

#include "piddm/distill/regression.h"
#include "piddm/train/adam.h"
#include "tests/flux_darcy.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr uint64_t kSeed = 31;
constexpr int64_t kN = 16, kBatch = 8, kSteps = 60;

Model flux_model(ModelKind kind, PdePtr pde, uint64_t seed) {
  Model model;
  model.kind = kind;
  model.process = process_registry().at("linear")();
  model.normalizer = Normalizer::fit(pde->sample(5, 0, 16), pde->channels());
  model.network = make_network(
      "fno", {{"channels", 4}, {"modes", {8, 8}}, {"width", 8}, {"layers", 2}, {"lifting", 16}, {"projection", 16}},
      seed);
  model.pde = std::move(pde);
  return model;
}

class SeveralEquations : public ::testing::Test {
 protected:
  /// Of a student's samples after a short distillation under the equations with these weights: flux_x, flux_y, mass.
  std::vector<double> trained(double flux, double mass) {
    const auto model = flux_model(ModelKind::student, testing::flux_darcy(kN, flux, mass), 2);
    const Student student(model);
    Regression objective(student, model, source_, {.lambda = 1000, .physics_ramp = 0}, kBatch, kSeed);
    Adam adam(*model.network, {});
    for (int64_t step = 0; step < kSteps; ++step) {
      adam.zero_grad();
      objective.loss(step).total.backward();
      adam.step(step + 1, 1e-2, adam.gradient_norm());
    }
    const torch::NoGradGuard no_grad;
    const auto x = model.normalizer.to_physical(student(source_.chunk(0).latents));
    std::vector<double> out;
    const auto judge = testing::flux_darcy(kN);
    for (const auto& error : judge->equation_errors(judge->residual(x))) out.push_back(error.mean().item<double>());
    return out;
  }

  testing::TempDir cache_;
  PairSource source_{flux_model(ModelKind::teacher, testing::flux_darcy(kN), 1), kSeed,
                     PairOptions{.steps = 2, .chunk = kBatch, .every = 100, .pool = 1, .held_out = 2}, cache_.path()};
};

// What is switched off stays large, whatever the others do.
TEST_F(SeveralEquations, EachOneActs) {
  const auto all = trained(1, 1), flux = trained(1, 0), mass = trained(0, 1);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_LT(all[i], mass[i] / 4) << i;
    EXPECT_LT(flux[i], mass[i] / 4) << i;
  }
  EXPECT_LT(all[2], flux[2] / 4);
  EXPECT_LT(mass[2], flux[2] / 4);
}

TEST_F(SeveralEquations, EachOneIsRecordedAndTheirMeanIsTheLoss) {
  const auto model = flux_model(ModelKind::student, testing::flux_darcy(kN), 2);
  const Student student(model);
  Regression objective(student, model, source_, {.lambda = 3, .error = 2, .physics_ramp = 0}, kBatch, kSeed);
  const auto loss = objective.loss(0);
  std::map<std::string, double> terms;
  for (const auto& [name, value] : loss.terms) terms[name] = value.item<double>();
  const double mean = (terms.at("pde_error_flux_x") + terms.at("pde_error_flux_y") + terms.at("pde_error_mass")) / 3;
  EXPECT_NEAR(terms.at("pde_error"), mean, 1e-6 * mean);
  const double total = terms.at("sample") + 3 * mean + 2 * terms.at("error");
  EXPECT_NEAR(loss.total.item<double>(), total, 1e-5 * total);
  const torch::NoGradGuard no_grad;
  const auto x = model.normalizer.to_physical(student(source_.chunk(0).latents)).to(torch::kFloat64);
  auto error = model.pde->precondition(model.pde->residual(x));
  for (int64_t c = 0; c < 3; ++c) error.select(1, c) /= model.normalizer.std(c);
  EXPECT_NEAR(terms.at("error"), error.square().mean().item<double>(), 1e-4 * terms.at("error"));
}

}  // namespace
}  // namespace piddm
