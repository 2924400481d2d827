#include "piddm/data/check/data_check.h"

#include "piddm/core/progress.h"
#include "piddm/data/data_file.h"
#include "tests/data/fake_pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FakePde;
using ::testing::HasSubstr;
using ::testing::Not;

/// The names of the checks that fail.
std::vector<std::string> failed_checks(const CheckReport& result) {
  std::vector<std::string> names;
  for (const auto& check : result.checks)
    if (!check.pass()) names.push_back(check.name);
  EXPECT_EQ(result.pass(), names.empty());
  return names;
}

class DataCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_progress_mode(ProgressMode::silent);
    data_ = make_dataset(pde_, 2, 0, 20);
  }

  CheckReport check(const CheckOptions& options = {}) const { return check_dataset(data_, pde_, options); }
  std::vector<std::string> failures(const CheckOptions& options = {}) const { return failed_checks(check(options)); }

  FakePde pde_;
  Dataset data_;
};

TEST_F(DataCheckTest, OwnDataPass) {
  const auto result = check();
  EXPECT_THAT(failed_checks(result), ElementsAre());
  EXPECT_EQ(result.n, 20);
  EXPECT_EQ(result.resolved, 20);
  EXPECT_EQ(result.worst.size(), 5u);
  EXPECT_EQ(result.channels[1], "a");
  EXPECT_EQ(result.statistics[1].min, 1);
  EXPECT_EQ(result.statistics[1].max, 3);
}

TEST_F(DataCheckTest, NonFiniteValuesAreCountedAndNamed) {
  data_.fields[5][0][0][0] = std::nan("");
  data_.fields[3][1][0][2] = INFINITY;
  const auto result = check();
  EXPECT_THAT(failed_checks(result), ElementsAre("non-finite values"));
  EXPECT_EQ(result.checks[0].value, 2);
  EXPECT_EQ(result.checks[0].note, "first: channel 'a', sample 3");
}

TEST_F(DataCheckTest, OtherValuesOfATwoValuedChannel) {
  data_.fields[4][1][0][0] = 1.5f;
  EXPECT_THAT(failures(), Contains("a: samples with values other than 1 and 3"));
  EXPECT_THAT(check().text(), HasSubstr("first: sample 4"));
}

TEST_F(DataCheckTest, AScalarThatVaries) {
  data_.fields[4][2][1][1] += 1e-3f;
  EXPECT_THAT(failures(), Contains("s: samples in which it is not constant"));
  EXPECT_THAT(failures(), Contains("samples with inadmissible coefficients"));
}

TEST_F(DataCheckTest, WhyAllSamplesMissTheEquationIsSaid) {
  EXPECT_TRUE(check().reasons.empty());
  EXPECT_EQ(check().to_json().at("causes"), json::array());
  data_.fields.select(1, 0) *= 2;
  const auto result = check();
  const auto causes = result.to_json().at("causes");
  ASSERT_FALSE(causes.empty()) << result.text();
  EXPECT_EQ(causes[0].at("explanation"), 1);
  EXPECT_NEAR(causes[0].at("evidence").at("factor").get<double>(), 0.5, 1e-5);
  EXPECT_THAT(result.text(), HasSubstr("\ncause  u has a factor: it has to be multiplied by 0.5"));
  EXPECT_THAT(result.text(), HasSubstr("\n       import again: piddm data import FILE --scale u=0.5"));
}

TEST_F(DataCheckTest, TheAdviceNamesThePdeThatTheUserNamed) {
  data_.fields.select(1, 0) *= 2;
  EXPECT_THAT(check({.pde = "own.toml"}).text(), HasSubstr("piddm data import FILE --pde own.toml --scale u=0.5"));
  EXPECT_TRUE(check({.explain = false}).reasons.empty());
}

TEST_F(DataCheckTest, OneBadSampleOfManyIsNamed) {
  data_.fields[18].select(0, 0) += 1e-5f;
  const auto result = check();
  EXPECT_THAT(failed_checks(result), ElementsAre("pde_error", "rel_residual", "worst residual over that of u*(a)"));
  EXPECT_EQ(result.worst[0].sample, 18);
  EXPECT_GT(result.worst[0].severity, 1);
  EXPECT_LT(result.worst[1].severity, 1);
  EXPECT_THAT(result.text(), HasSubstr("sample 18; 1 of 20 beyond"));
}

TEST_F(DataCheckTest, WhereTimeIsShortTheSamplesThatStandOutAreSolvedAgain) {
  data_ = make_dataset(pde_, 2, 0, 500);
  data_.fields[444].select(0, 0) += 1e-2f;
  const CheckOptions hurry{.seconds = 0};
  const auto result = check(hurry);
  EXPECT_LT(result.resolved, 64 + 4 * 16 + 1);
  EXPECT_EQ(result.worst[0].sample, 444);
  EXPECT_THAT(failed_checks(result), Contains("worst distance to u*(a), relative"));
  EXPECT_EQ(check({.all = true, .seconds = 0}).resolved, 500);
}

TEST_F(DataCheckTest, ToleranceIsTheUsers) {
  data_.fields.select(1, 0) *= 1.001;
  EXPECT_THAT(failures(), Contains("worst distance to u*(a), relative"));
  EXPECT_THAT(failures({.tolerance = 0.01}), Not(Contains("worst distance to u*(a), relative")));
}

TEST_F(DataCheckTest, HardConstraintAndGivenConstraint) {
  data_.fields.select(1, 0) *= -1;
  EXPECT_THAT(failures(), Contains("worst hard constraint over that of u*(a)"));
  data_ = make_dataset(pde_, 2, 0, 20);
  const auto zero = slice_constraint(0, Axis::w, 0, torch::zeros({}, torch::kFloat64));
  EXPECT_THAT(failures({.constraint = zero}), ElementsAre("worst given constraint, relative"));
  const auto first = data_.fields[0][0].select(1, 0).to(torch::kFloat64);
  data_.fields.select(1, 0).select(2, 0).copy_(first);
  EXPECT_THAT(failures({.constraint = slice_constraint(0, Axis::w, 0, first)}),
              Not(Contains("worst given constraint, relative")));
}

TEST_F(DataCheckTest, CoefficientsThatCannotBeSolvedFailAlone) {
  data_.fields[3][1][0][0] = -1;
  const auto result = check();
  EXPECT_THAT(failed_checks(result), Contains("worst distance to u*(a), relative"));
  EXPECT_EQ(result.worst[0].sample, 3);
  EXPECT_LT(result.worst[1].severity, 1);
  EXPECT_THAT(result.text(), HasSubstr("negative coefficients"));
}

TEST_F(DataCheckTest, AnotherSeedAndAnotherLaw) {
  data_.description.first = 1;
  EXPECT_THAT(failures(), ElementsAre("coefficients other than those of seed 2"));
  data_ = make_dataset(pde_, 2, 0, 200);
  data_.fields.select(1, 2) *= 0.5;
  pde_.solution(data_.fields).copy_(pde_.solve(pde_.coefficients(data_.fields).to(torch::kFloat64), {}, nullptr));
  const std::string law = "s: mean, |z| against the law";
  EXPECT_THAT(failures(), Contains(law));
  data_.description.law.clear();  // own data of another law: no reason to fail
  EXPECT_THAT(failures(), ElementsAre());
}

TEST_F(DataCheckTest, AFileThatChangedAfterItsDigest) {
  const testing::TempDir dir;
  save_dataset(dir / "d.npz", data_);
  EXPECT_THAT(failures({.file = dir / "d.npz"}), ElementsAre());
  write_digest(dir / "d.npz");
  EXPECT_THAT(failures({.file = dir / "d.npz"}), ElementsAre());
  save_dataset(dir / "e.npz", make_dataset(pde_, 3, 0, 20));
  std::filesystem::rename(dir / "e.npz", dir / "d.npz");
  EXPECT_THAT(failures({.file = dir / "d.npz"}), ElementsAre("SHA-256 other than the one kept"));
}

TEST_F(DataCheckTest, AFrontOnAGridPointMayLieOnEitherSide) {
  const auto stefan = make_pde({.name = "stefan", .grid = 32});
  auto data = make_dataset(*stefan, 0, 0, 4);
  const auto solution = [&](double u_star) {
    return stefan->solve(torch::full({1, 1, 32, 32}, u_star, torch::kFloat64));
  };
  const auto wet = [&](double u_star) { return solution(u_star)[0][0][8][20].item<double>() > 0; };
  double low = 0.55, high = 0.7;  // the front reaches this point for small u* only
  ASSERT_TRUE(wet(low) && !wet(high));
  while (high - low > 1e-7) (wet((low + high) / 2) ? low : high) = (low + high) / 2;
  data.fields[2][0].copy_(solution(low)[0][0]);
  data.fields[2][1].fill_(high);
  data.description.law.clear();
  const auto result = check_dataset(data, *stefan);
  EXPECT_TRUE(result.pass()) << result.text();
}

TEST_F(DataCheckTest, JsonHasTheSame) {
  const auto result = check_dataset(data_, pde_);
  const auto j = result.to_json();
  EXPECT_EQ(j.at("pass"), true);
  EXPECT_EQ(j.at("channels")[1], (json{{"name", "a"},
                                       {"min", 1.0},
                                       {"max", 3.0},
                                       {"mean", result.statistics[1].mean},
                                       {"std", result.statistics[1].std}}));
  EXPECT_EQ(j.at("checks").size(), result.checks.size());
  EXPECT_EQ(j.at("checks")[0].at("limit"), 0.0);
  EXPECT_EQ(j.at("worst")[0].at("sample"), result.worst[0].sample);
  CheckReport fitted;
  fitted.checks = {{.name = "k", .value = 0.1, .limit = {}, .note = {}, .constant = {{1.1, 0.2, 1.0}}}};
  EXPECT_EQ(fitted.to_json().at("checks")[0].at("standard_error"), 0.2);
  EXPECT_TRUE(fitted.to_json().at("checks")[0].at("limit").is_null());
}

TEST_F(DataCheckTest, TableIsAligned) {
  const auto text = check().text();
  EXPECT_THAT(text, HasSubstr("channel             min          max         mean          std\n"));
  EXPECT_THAT(text, HasSubstr("non-finite values                                         0            0  ok"));
  EXPECT_THAT(text, ::testing::EndsWith("20 samples, 20 solved again: ok\n"));
}

}  // namespace
}  // namespace piddm
