#include "piddm/eval/classifier.h"

#include "piddm/core/rng.h"
#include "piddm/eval/two_sample.h"
#include "piddm/pde/pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

/// A fraction of the committed recipe's work.
constexpr ClassifierRecipe kShort{.width = 8, .steps = 240, .batch = 16, .lr = 1e-2};
constexpr ClassifierRecipe kShorter{.width = 8, .steps = 60, .batch = 16, .lr = 1e-2};

constexpr int64_t kN = 256;

double accuracy(const Tensor& generated, const Tensor& truth, const ClassifierRecipe& recipe = kShorter) {
  return told_apart(generated, truth, recipe).mean().item<double>();
}

Tensor coefficients(const std::string& pde, int64_t first, int64_t n = kN) {
  return make_pde({pde, 32})->sample_coefficients(5, first, n);
}

TEST(Classifier, TellsCoefficientsWithRoundedEdges) {  // as low-passed to 16 of 128 modes and cut again
  const auto rounded = low_pass(coefficients("darcy", 0, 512), 2);
  const auto cut = torch::where(rounded > 7.5, torch::full_like(rounded, 12), torch::full_like(rounded, 3));
  EXPECT_GE(accuracy(cut, coefficients("darcy", 1000, 512), kShort), 0.95);
}

TEST(Classifier, TellsSamplesWithMissingModes) {
  const auto pde = make_pde({"poisson", 32});
  const auto source = low_pass(coefficients("poisson", 0), 5);
  const auto fake = torch::cat({pde->solve(source), source}, 1);
  EXPECT_GE(accuracy(fake, pde->sample(5, 1000, kN)), 0.95);
}

TEST(Classifier, SeesWhereOnRectangles) {  // the same texture, in another place
  const auto noise = normal(1, Stream::noise, 0, 2 * kN, {1, 16, 40});
  const auto step = (torch::arange(40) < 20).to(torch::kFloat32);
  EXPECT_GE(accuracy(noise.narrow(0, 0, kN) + step, noise.narrow(0, kN, kN) + (1 - step)), 0.95);
}

TEST(Classifier, GuessesBetweenTrueAndTrue) {
  const double got = accuracy(coefficients("darcy", 0), coefficients("darcy", 1000));
  EXPECT_NEAR(got, 0.5, 0.18);  // four deviations of 128 guesses
}

TEST(Classifier, IsAFunctionOfFieldsAndRecipe) {
  const auto fake = normal(1, Stream::noise, 0, 32, {1, 16, 16}), truth = normal(2, Stream::noise, 0, 40, {1, 16, 16});
  constexpr ClassifierRecipe kTiny{.width = 4, .steps = 12, .batch = 8, .seed = 3};
  const auto first = told_apart(fake, truth, kTiny);
  EXPECT_EQ(first.sizes().vec(), std::vector<int64_t>({16}));
  EXPECT_TRUE(torch::equal(first, told_apart(fake, truth, kTiny)));
  EXPECT_ERROR(told_apart(fake.narrow(0, 0, 7), truth, kTiny), ExitCode::data,
               "at least 8 samples of each kind, got 7");
  EXPECT_ERROR(told_apart(fake.narrow(2, 0, 8), truth, kTiny), ExitCode::data, "differ in shape");
}

}  // namespace
}  // namespace piddm
