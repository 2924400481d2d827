#include "piddm/eval/divergence.h"

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;

Scores scores_with(const std::string& metric, double value) {
  Scores scores;
  for (const char* usual : {"mmse", "smse", "pde_error", "rel_residual", "solution_error", "mse_u"})
    scores.values[usual] = 0.5;
  scores.values["nfe"] = 500;
  scores.values[metric] = value;
  return scores;
}

TEST(Divergence, IsAnErrorBeyondTheStatedMultipleOfTheDatasOwnScale) {
  for (const char* error : {"mmse", "mmse_a", "smse", "solution_error", "mse_u", "mse_a"}) {
    EXPECT_EQ(divergence(scores_with(error, 100)), "") << error;
    EXPECT_THAT(divergence(scores_with(error, 100.1)), HasSubstr("beyond 100 variances")) << error;
  }
  EXPECT_EQ(divergence(scores_with("rel_residual", 1e5)), "");
  EXPECT_THAT(divergence(scores_with("rel_residual", 1.1e5)), HasSubstr("1e+05 times the terms of the equation"));
  EXPECT_EQ(divergence(scores_with("pde_error", 2.87e10)), "");  // its unit is the PDE's
  for (const char* other : {"nfe", "frechet_teacher", "mse_variance", "seconds_per_sample"})
    EXPECT_EQ(divergence(scores_with(other, 1e12)), "") << other;
}

TEST(Divergence, IsAnErrorThatIsNotFinite) {
  for (const double value : {double{NAN}, double{INFINITY}})
    for (const char* error : {"mmse", "pde_error", "solution_error", "mse_u"})
      EXPECT_EQ(divergence(scores_with(error, value)), std::string(error) + " is not finite");
  EXPECT_EQ(divergence(scores_with("frechet_teacher", NAN)), "");
}

TEST(Divergence, StandsInThePlaceOfNumbersThatJudgeAndOfNoOthers) {
  const auto scores = scores_with("pde_error", 2.87e10);
  EXPECT_EQ(score_text(scores, "pde_error", false), "2.87e10");
  EXPECT_EQ(score_text(scores, "pde_error", true), "diverged");
  EXPECT_EQ(score_text(scores, "mse_u", true), "diverged");
  EXPECT_EQ(score_text(scores, "nfe", true), "500");
  EXPECT_EQ(score_text(scores, "mse_a", true, "-"), "-");
}

}  // namespace
}  // namespace piddm
