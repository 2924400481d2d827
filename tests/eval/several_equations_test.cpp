// Metrics of a PDE with several equations and solution channels: one wrong entry of the flux costs what it must.

#include <cmath>

#include "piddm/data/statistics.h"
#include "piddm/eval/evaluate.h"
#include "piddm/eval/metric_registry.h"
#include "piddm/eval/summary.h"
#include "tests/flux_darcy.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kN = 16;
constexpr double kError = 0.01;

/// True samples with qx wrong at one inner face: flux_x is off by kError there, mass by kError/h in two cells.
Tensor damaged(const Tensor& truth) {
  auto x = truth.clone();
  x.select(1, 1).select(1, 5).select(1, 7) += kError;
  return x;
}

struct Setting {
  PdePtr pde = testing::flux_darcy(kN);
  Tensor held_out = pde->sample(1, 100, 12);
  Normalizer normalizer = Normalizer::fit(pde->sample(1, 0, 12), pde->channels());
  Judge judge{pde, normalizer, held_out, held_out.mean(0)};
};

TEST(SeveralEquations, AreJudgedAloneAndTogether) {
  const Setting s;
  const auto scores = s.judge.samples({damaged(s.pde->sample(1, 50, 6)), 3, 2, 0.5}, {20, 1});
  const double square = kError * kError, flux = square / (kN * (kN - 1)), mass = 2 * square / (kN * kN);
  EXPECT_NEAR(scores.at("pde_error_flux_x"), flux, 1e-9 * flux);
  EXPECT_LT(scores.at("pde_error_flux_y"), 1e-20);
  EXPECT_NEAR(scores.at("pde_error_mass"), mass, 1e-9 * mass);
  EXPECT_NEAR(scores.at("pde_error"), (flux + mass) / 3, 1e-9 * mass);
  const auto reference = residual_statistics(*s.pde, s.held_out).reference_rms();
  const double rel_flux = std::sqrt(flux) / reference[0], rel_mass = std::sqrt(mass) * kN;
  EXPECT_NEAR(scores.at("rel_residual_flux_x"), rel_flux, 1e-9 * rel_flux);
  EXPECT_NEAR(scores.at("rel_residual_mass"), rel_mass, 1e-9 * rel_mass);  // its reference term is 1
  const double together = std::sqrt((rel_flux * rel_flux + rel_mass * rel_mass) / 3);
  EXPECT_NEAR(scores.at("rel_residual"), together, 1e-9 * together);
  const double qx = square / (kN * kN) / std::pow(s.normalizer.std(1), 2);
  EXPECT_NEAR(scores.at("solution_error_qx"), qx, 1e-8 * qx);
  EXPECT_LT(scores.at("solution_error_p") + scores.at("solution_error_qy"), 1e-18);
  EXPECT_NEAR(scores.at("solution_error"), qx / 3, 1e-8 * qx);
  for (const char* key : {"pde_error_mass", "rel_residual_flux_x", "solution_error_qx"})
    EXPECT_TRUE(scores.intervals.find(key) != scores.intervals.end()) << key;
}

TEST(SeveralEquations, TheirMetricsAreThoseOfTheRegistry) {
  const Setting s;
  std::vector<std::string> names;
  for (const auto& card : metric_cards()) names.push_back(card.name);
  const auto columns = metric_columns(names, metric_parts(*s.pde));
  const Samples samples{damaged(s.held_out), 3, 2, 0.5};
  const auto observation = observe(Task::inverse, s.held_out, *s.pde, 3);
  for (const auto& scores : {s.judge.samples(samples), s.judge.floor(6, 1),
                             s.judge.task(samples, s.held_out, observation), physics_summary(samples, *s.pde)})
    for (const auto& [key, value] : scores.values) EXPECT_THAT(columns, ::testing::Contains(key));
  EXPECT_TRUE(s.judge.task(samples, s.held_out, observation).has("pde_error_mass"));
  EXPECT_LT(s.judge.floor(6, 1).at("rel_residual_flux_x"), 1e-8);
}

TEST(SeveralEquations, SummariesAgreeWithTheJudge) {
  const Setting s;
  const Samples samples{damaged(s.held_out), 3, 2, 0.5};
  const auto summary = physics_summary(samples, *s.pde);
  const auto judged = s.judge.samples(samples);
  for (const char* key : {"pde_error", "pde_error_flux_x", "pde_error_mass", "rel_residual", "rel_residual_mass"})
    EXPECT_NEAR(summary.at(key), judged.at(key), 1e-6 * judged.at(key)) << key;
}

}  // namespace
}  // namespace piddm
