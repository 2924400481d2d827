#include "piddm/data/data_check.h"

#include "piddm/core/progress.h"
#include "piddm/pde/darcy.h"
#include "tests/data/fake_pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::FakePde;

class DataCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_progress_mode(ProgressMode::silent);
    data_ = make_dataset(pde_, 2, 0, 20);
  }

  /// The names of the checks that fail.
  std::vector<std::string> failures() const {
    std::vector<std::string> names;
    const auto result = check_dataset(data_, pde_);
    for (const auto& check : result.at("checks"))
      if (!check.at("pass").get<bool>()) names.push_back(check.at("name"));
    EXPECT_EQ(result.at("pass").get<bool>(), names.empty());
    return names;
  }

  FakePde pde_;
  Dataset data_;
};

using ::testing::Contains;
using ::testing::ElementsAre;

TEST_F(DataCheckTest, OwnDataPass) {
  EXPECT_THAT(failures(), ElementsAre());
  const auto result = check_dataset(data_, pde_);
  EXPECT_EQ(result.at("n"), 20);
  EXPECT_EQ(result.at("channels")[1].at("name"), "a");
  EXPECT_EQ(result.at("channels")[1].at("min"), 1);
  EXPECT_EQ(result.at("channels")[1].at("max"), 3);
}

TEST_F(DataCheckTest, DarcyPassesAndOneDamagedValueIsSeen) {
  const Darcy darcy({.name = "darcy", .grid = 32});
  auto data = make_dataset(darcy, 0, 0, 18);
  const auto good = check_dataset(data, darcy);
  EXPECT_TRUE(good.at("pass").get<bool>()) << format_check(good);
  data.fields[17][0][9][9] += 1e-4;  // one cell of the last sample, 1 % of its value
  const auto bad = check_dataset(data, darcy);
  EXPECT_FALSE(bad.at("pass").get<bool>()) << format_check(bad);
  EXPECT_THAT(format_check(bad), ::testing::HasSubstr("sample 17"));
}

TEST_F(DataCheckTest, NonFiniteValuesAreCounted) {
  data_.fields[0][0][0][0] = std::nan("");
  data_.fields[3][1][0][2] = INFINITY;
  EXPECT_THAT(failures(), ElementsAre("non-finite values"));
  EXPECT_EQ(check_dataset(data_, pde_).at("checks")[0].at("value"), 2);
}

TEST_F(DataCheckTest, OtherValuesOfATwoValuedChannel) {
  data_.fields[4][1][0][0] = 1.5f;
  EXPECT_THAT(failures(), Contains("a: values other than 1 and 3"));
}

TEST_F(DataCheckTest, AScalarThatVaries) {
  data_.fields[4][2][1][1] += 1e-3f;
  EXPECT_THAT(failures(), Contains("s: entries that differ in a sample"));
}

TEST_F(DataCheckTest, OneBadSampleOfManyShowsAsTheWorst) {
  data_.fields[18].select(0, 0) += 1e-4f;  // beyond the samples that are solved again
  EXPECT_THAT(failures(), ElementsAre("pde_error", "rel_residual", "rel_residual, worst sample"));
  data_.description.erase("floor");
  EXPECT_THAT(failures(), ElementsAre());  // without a floor the residual has no limit
}

TEST_F(DataCheckTest, WrongSolutionsAndConstraints) {
  data_.description.erase("floor");
  data_.fields.select(1, 0) *= 1.02;
  EXPECT_THAT(failures(), ElementsAre("re-solve, relative mse(u - u*(a))"));
  data_.fields.select(1, 0) *= -1;
  EXPECT_THAT(failures(), Contains("hard constraint, relative"));
}

TEST_F(DataCheckTest, CoefficientsThatCannotBeSolvedFail) {
  data_.fields[0][1][0][0] = -1;
  EXPECT_THAT(failures(), Contains("re-solve, relative mse(u - u*(a))"));
  EXPECT_THAT(format_check(check_dataset(data_, pde_)), ::testing::HasSubstr("negative coefficients"));
}

TEST_F(DataCheckTest, TableIsAligned) {
  const auto text = format_check(check_dataset(data_, pde_));
  EXPECT_THAT(text, ::testing::HasSubstr("channel             min          max         mean          std\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("non-finite values                                   0            0  ok"));
  EXPECT_THAT(text, ::testing::EndsWith("20 samples: ok\n"));
}

}  // namespace
}  // namespace piddm
