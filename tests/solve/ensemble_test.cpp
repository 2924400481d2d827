#include "piddm/solve/ensemble.h"

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

TEST(Ensemble, RepeatsEachCaseAndItsFunctionals) {
  const auto x = testing::tiny_data(2).to(torch::kFloat32);
  Observation observation{x, torch::ones_like(x), 0.1 * x};
  observation.functionals = {.sample = torch::tensor({1}),
                             .channel = torch::tensor({0}),
                             .value = torch::tensor({3.0}, torch::kFloat64),
                             .sigma = torch::tensor({0.5}, torch::kFloat64),
                             .gain = torch::tensor({1.0}, torch::kFloat64),
                             .row = torch::tensor({0, 0}),
                             .entry = torch::tensor({1, 2}),
                             .weight = torch::tensor({0.5, 0.5}, torch::kFloat64)};
  const auto many = repeated(observation, 3);
  EXPECT_EQ(many.values.size(0), 6);
  for (int64_t k = 0; k < 6; ++k) {
    EXPECT_TRUE(torch::equal(many.values[k], x[k / 3]));
    EXPECT_TRUE(torch::equal(many.sigma[k], 0.1 * x[k / 3]));
  }
  EXPECT_TRUE(torch::equal(many.functionals.sample, torch::tensor({3, 4, 5})));
  EXPECT_TRUE(torch::equal(many.functionals.apply(many.values), observation.functionals.apply(x).expand({3})));
}

// Members k = 0..4 with the values m + k s: everything in closed form.
TEST(Ensemble, SummarisesAnArithmeticSequence) {
  const auto pde = testing::tiny_pde();
  const auto m = torch::randn({2, 2, 16, 16}, torch::kFloat64), s = torch::rand({2, 2, 16, 16}, torch::kFloat64);
  std::vector<Tensor> members;
  for (int64_t i = 0; i < 2; ++i)
    for (const int64_t k : {3, 0, 4, 1, 2}) members.push_back(m[i] + k * s[i]);
  const auto summary = summarize(torch::stack(members), 5, *pde);
  EXPECT_LT(testing::relative_error(summary.mean, m + 2 * s), 1e-12);
  EXPECT_LT(testing::relative_error(summary.deviation, std::sqrt(2.5) * s), 1e-12);
  for (size_t q = 0; q < kEnsembleQuantiles.size(); ++q)
    EXPECT_LT(testing::relative_error(summary.quantiles[q], m + 4 * kEnsembleQuantiles[q] * s), 1e-12) << q;
}

TEST(Ensemble, CountsTheHighValuesOfACoefficientThatHasTwo) {
  const auto pde = testing::tiny_pde();  // a is 3 or 12
  auto x = torch::full({4, 2, 16, 16}, 3.0);
  x[0][1][5][6] = 12;
  x[2][1][5][6] = 7.6;
  x[3][1][5][6] = 7.4;
  const auto summary = summarize(x, 4, *pde);
  EXPECT_EQ(summary.above[0][1][5][6].item<double>(), 0.5);
  EXPECT_EQ(summary.above.sum().item<double>(), 0.5);
  const auto arrays = ensemble_arrays(summary, *pde);
  EXPECT_EQ(arrays.at("a_probability")[0][5][6].item<float>(), 0.5f);
  EXPECT_EQ(arrays.count("u_probability"), 0u);
  for (const char* name : {"u_mean", "a_std", "u_q05", "u_q25", "a_q50", "u_q75", "a_q95"})
    EXPECT_EQ(shape_string(arrays.at(name)), "(1,16,16)") << name;
  EXPECT_ERROR(summarize(x, 1, *pde), ExitCode::data, "at least 2 members");
  EXPECT_ERROR(summarize(x, 3, *pde), ExitCode::data, "the same for all");
}

}  // namespace
}  // namespace piddm
