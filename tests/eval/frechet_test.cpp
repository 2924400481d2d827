#include "piddm/eval/frechet.h"

#include "piddm/core/rng.h"
#include "piddm/eval/poseidon/poseidon.h"
#include "tests/eval/poseidon/golden.h"

namespace piddm {
namespace {

using testing::scot_expected;
using testing::scot_golden;

Tensor gaussians(int64_t n, int64_t d, uint64_t seed) {
  return normal(seed, Stream::coefficients, 0, n, {d}, torch::kFloat64);
}

void expect_terms(const Frechet& got, const json& expected, double tolerance) {
  EXPECT_NEAR(got.distance, expected.at("fpd").get<double>(), tolerance);
  EXPECT_NEAR(got.mean_term, expected.at("mean_term").get<double>(), tolerance);
  EXPECT_NEAR(got.trace1, expected.at("tr1").get<double>(), tolerance);
  EXPECT_NEAR(got.trace2, expected.at("tr2").get<double>(), tolerance);
  EXPECT_NEAR(got.trace_sqrt, expected.at("tr_sqrt").get<double>(), tolerance);
}

TEST(Frechet, MatchesTheReferenceTermByTerm) {
  const auto &a = scot_golden("fpd.a.feature"), &b = scot_golden("fpd.b.feature");
  expect_terms(frechet_distance(a, b), scot_expected().at("fpd_full"), 1e-10);
  expect_terms(frechet_distance(a.narrow(0, 0, 24), b.narrow(0, 0, 24)), scot_expected().at("fpd_first24"), 1e-10);
  EXPECT_NEAR(frechet_distance(a, a).distance, 0, 1e-11);
  EXPECT_NEAR(frechet_distance(a, b).distance,
              scot_expected().at("fpd_full").at("fpd_f64_features_scipy_sqrtm").get<double>(), 1e-9);
}

TEST(Frechet, OfFramesMatchesTheReference) {
  const auto &a = scot_golden("fpd4d.a.feature"), &b = scot_golden("fpd4d.b.feature");
  for (int64_t frame = 0; frame < 3; ++frame)
    expect_terms(frechet_distance(a.select(1, frame), b.select(1, frame)), scot_expected().at("fpd4d_per_frame")[frame],
                 1e-10);
}

TEST(Frechet, FromFieldsInFloatMatchesThePublishedProcedure) {
  const auto encoder = load_poseidon(testing::golden("scot-tiny"));
  const auto a = encoder.features(scot_golden("fpd.a")), b = encoder.features(scot_golden("fpd.b"));
  const auto expected = scot_expected().at("fpd_full").at("fpd_notebook_path_f32_features_scipy_sqrtm").get<double>();
  EXPECT_NEAR(frechet_distance(a, b).distance, expected, 1e-3);
}

TEST(Frechet, ShiftsAndScalesHaveClosedForms) {
  for (const int64_t n : {40, 5}) {  // more and fewer samples than features
    const auto x = gaussians(n, 8, 1);
    const auto shift = gaussians(1, 8, 2)[0];
    const double trace = x.var(0, true).sum().item<double>(), mean = x.mean(0).square().sum().item<double>();
    EXPECT_NEAR(frechet_distance(x, x + shift).distance, shift.square().sum().item<double>(), 1e-12);
    EXPECT_NEAR(frechet_distance(x, 3 * x).distance, 4 * (trace + mean), 1e-11);
    EXPECT_NEAR(frechet_distance(x, x).distance, 0, 1e-13 * trace * 100);
  }
}

TEST(Frechet, IsSymmetricAndBlindToRotationsAndOrder) {
  const auto a = gaussians(30, 6, 3), b = 1.5 * gaussians(25, 6, 4) + 0.3;
  const double expected = frechet_distance(a, b).distance;
  EXPECT_GT(expected, 0.1);
  EXPECT_NEAR(frechet_distance(b, a).distance, expected, 1e-12);
  const auto rotation = std::get<0>(torch::linalg_qr(gaussians(6, 6, 5), "reduced"));
  EXPECT_NEAR(frechet_distance(a.matmul(rotation), b.matmul(rotation)).distance, expected, 1e-12);
  EXPECT_NEAR(frechet_distance(a.flip(0), b).distance, expected, 1e-12);
}

TEST(Frechet, SaysWhatItNeeds) {
  EXPECT_ERROR(frechet_distance(gaussians(1, 3, 1), gaussians(5, 3, 1)), ExitCode::data, "at least 2 samples, got 1");
  EXPECT_ERROR(frechet_distance(gaussians(4, 3, 1), gaussians(4, 2, 1)), ExitCode::data, "3 and 2 features");
  EXPECT_ERROR(frechet_distance(torch::zeros({4}), gaussians(4, 2, 1)), ExitCode::data, "(N,d), got (4)");
  auto broken = gaussians(4, 3, 1);
  broken[2][1] = NAN;
  EXPECT_TRUE(std::isnan(frechet_distance(broken, gaussians(4, 3, 2)).distance));
}

}  // namespace
}  // namespace piddm
