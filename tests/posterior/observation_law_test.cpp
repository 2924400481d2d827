#include "piddm/posterior/observation_law.h"

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kGrid = 16, kCases = 400;

const PdePtr& pde_of(const std::string& name) {
  static std::map<std::string, PdePtr> made;
  if (!made[name]) made[name] = make_pde({name, kGrid});
  return made[name];
}

/// z of any kind: observations do not look at it.
Tensor fields(const Pde& pde, int64_t cases = kCases) {
  return piddm::normal(3, Stream::noise, 0, cases, pde.sample_shape());
}

ObservationLaw only(double ObservationLaw::*kind) {
  ObservationLaw law;
  law.forward = law.inverse = law.reconstruct = law.nothing = 0;
  law.*kind = 1;
  law.trace = law.whole = 0;
  return law;
}

Tensor known_of(const Target& target, int64_t channel) { return target.mask.select(1, channel).sum({1, 2}); }

Target observed(const ObservationLaw& law, const std::string& name = "darcy", int64_t cases = kCases) {
  const auto& pde = *pde_of(name);
  return random_observations(law, pde, fields(pde, cases), 5, 0);
}

TEST(ObservationLaw, ShowsWhatItsKindSays) {
  EXPECT_EQ(observed(only(&ObservationLaw::nothing)).mask.sum().item<double>(), 0);
  const auto forward = observed(only(&ObservationLaw::forward)), inverse = observed(only(&ObservationLaw::inverse)),
             both = observed(only(&ObservationLaw::reconstruct));
  EXPECT_EQ(known_of(forward, 0).max().item<double>(), 0);
  EXPECT_GE(known_of(forward, 1).min().item<double>(), 5);
  EXPECT_GE(known_of(inverse, 0).min().item<double>(), 5);
  EXPECT_EQ(known_of(inverse, 1).max().item<double>(), 0);
  EXPECT_GE(torch::minimum(known_of(both, 0), known_of(both, 1)).min().item<double>(), 5);
  EXPECT_FALSE(known_of(both, 0).equal(known_of(both, 1)));
}

TEST(ObservationLaw, DrawsTheLogarithmOfTheNumberOfPointsUniformly) {
  const auto counts = known_of(observed(only(&ObservationLaw::inverse)), 0);
  EXPECT_LE(counts.max().item<double>(), kGrid * kGrid);
  EXPECT_GE(counts.max().item<double>(), 0.9 * kGrid * kGrid);
  const double middle = std::sqrt(5.0 * kGrid * kGrid);
  EXPECT_NEAR((counts < middle).to(torch::kFloat32).mean().item<double>(), 0.5, 0.08);
}

TEST(ObservationLaw, ShowsWholeFieldsAndTracesAsOftenAsItIsTold) {
  auto law = only(&ObservationLaw::inverse);
  law.whole = 0.3;
  law.most = 50;
  auto counts = known_of(observed(law), 0);
  EXPECT_NEAR((counts == kGrid * kGrid).to(torch::kFloat32).mean().item<double>(), 0.3, 0.08);
  law.whole = 0;
  law.trace = 1;
  law.most = law.fewest = 5;
  counts = known_of(observed(law), 0);
  const auto line = counts == kGrid, ring = counts == 4 * (kGrid - 1);
  EXPECT_NEAR(line.logical_or(ring).to(torch::kFloat32).mean().item<double>(), 0.5,
              0.08);  // the others have points too
  EXPECT_GT(ring.sum().item<int64_t>(), 0);
}

TEST(ObservationLaw, GivesACaseOneSigmaAndValuesThatAreThatFarOff) {
  auto law = only(&ObservationLaw::reconstruct);
  law.exact = 0.25;
  law.fewest = law.most = kGrid * kGrid;
  const auto z = fields(*pde_of("darcy"));
  const auto target = random_observations(law, *pde_of("darcy"), z, 5, 0);
  const auto level = target.sigma.flatten(1);
  EXPECT_TRUE(std::get<0>(level.max(1)).equal(std::get<0>(level.min(1))));
  const auto exact = level.select(1, 0) == 0;
  EXPECT_NEAR(exact.to(torch::kFloat32).mean().item<double>(), 0.25, 0.08);
  EXPECT_TRUE(target.exact.flatten(1).select(1, 0).equal(exact.to(torch::kFloat32)));
  EXPECT_GE(level.masked_select(level > 0).min().item<double>(), 1e-3 * (1 - 1e-5));
  EXPECT_LE(level.max().item<double>(), 0.1 * (1 + 1e-5));
  const auto off = (target.values - z).flatten(1);
  EXPECT_EQ(off.index({exact}).abs().max().item<double>(), 0);
  const auto scaled = (off / level.clamp_min(1e-9)).index({exact.logical_not()});
  EXPECT_NEAR(scaled.std().item<double>(), 1, 0.01);
}

TEST(ObservationLaw, GivesBoundariesAndNumbersOfAForwardProblemAway) {
  const auto law = only(&ObservationLaw::forward);
  const auto burgers = observed(law, "burgers");
  const auto given = pde_of("burgers")->given_boundary()[0].to(torch::kFloat32);
  ASSERT_GT(given.sum().item<double>(), 0);
  const auto shown = known_of(burgers, 0) == given.sum();
  EXPECT_NEAR(shown.to(torch::kFloat32).mean().item<double>(), 0.8, 0.08);
  EXPECT_TRUE((burgers.sigma.select(1, 0) == 0).all().item<bool>());
  const auto stokes = observed(law, "stokes");
  for (int64_t c = 0; c < stokes.mask.size(1); ++c)
    if (pde_of("stokes")->channels()[static_cast<size_t>(c)].scalar) {
      EXPECT_TRUE((stokes.mask.select(1, c) == 1).all().item<bool>());
    }
}

TEST(ObservationLaw, DependsOnSeedAndNumberOnly) {
  const auto& pde = *pde_of("navier-stokes");
  const auto z = fields(pde, 12);
  const auto all = random_observations({}, pde, z, 5, 100);
  const auto part = random_observations({}, pde, z.narrow(0, 4, 3), 5, 104);
  EXPECT_TRUE(all.mask.narrow(0, 4, 3).equal(part.mask));
  EXPECT_TRUE(all.values.narrow(0, 4, 3).equal(part.values));
  EXPECT_TRUE(all.sigma.narrow(0, 4, 3).equal(part.sigma));
  EXPECT_FALSE(all.mask.equal(random_observations({}, pde, z, 6, 100).mask));
}

TEST(ObservationLaw, RefusesNumbersThatDoNotGoTogether) {
  ObservationLaw law;
  law.fewest = 100;
  law.most = 10;
  EXPECT_THROW(check_law(law, "observe"), UsageError);
  law = {};
  law.forward = law.inverse = law.reconstruct = law.nothing = 0;
  EXPECT_THROW(check_law(law, "observe"), UsageError);
  law = {};
  law.low_noise = 0.5;
  EXPECT_THROW(check_law(law, "observe"), UsageError);
}

}  // namespace
}  // namespace piddm
