// What `data make` writes passes `data check`, and what people do to data by accident does not: for every registered
// PDE.

#include "piddm/core/progress.h"
#include "piddm/data/check/data_check.h"
#include "tests/flux_darcy.h"
#include "tests/testing.h"

namespace piddm {
namespace {

class EveryPde : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    set_progress_mode(ProgressMode::silent);
    const bool slow = GetParam() == "navier-stokes";
    pde_ = testing::any_pde(GetParam(), slow ? 16 : 32);
    auto& made = made_[GetParam()];
    if (!made.fields.defined()) made = make_dataset(*pde_, 0, 0, slow ? 6 : 20);
    data_ = made;
  }

  bool passes(const Dataset& data) const {
    const auto result = check_dataset(data, *pde_, {.explain = false});
    text_ = result.text();
    return result.pass();
  }

  /// A copy whose solution channels `change` has worked on.
  template <class F>
  Dataset changed(const F& change) const {
    Dataset copy{data_.description, data_.channels, data_.fields.clone()};
    change(pde_->solution(copy.fields));
    return copy;
  }

  PdePtr pde_;
  Dataset data_;
  mutable std::string text_;

 private:
  static inline std::map<std::string, Dataset> made_;
};

TEST_P(EveryPde, OwnDataPass) { EXPECT_TRUE(passes(data_)) << text_; }

TEST_P(EveryPde, OwnDataInDoublePrecisionPass) {
  EXPECT_TRUE(passes(make_dataset(*pde_, 5, 100, 6, 6, torch::kFloat64))) << text_;
}

TEST_P(EveryPde, AScaledField) {
  EXPECT_FALSE(passes(changed([](Tensor u) { u *= 1.01; }))) << text_;
}

TEST_P(EveryPde, TransposedAxes) {
  EXPECT_FALSE(passes(changed([](Tensor u) { u.copy_(u.transpose(2, 3).clone()); }))) << text_;
}

TEST_P(EveryPde, OnePixelOfOneSample) {
  EXPECT_FALSE(passes(changed([](Tensor u) { u[4][0][9][7] += 0.02 * u[4].abs().max(); }))) << text_;
  EXPECT_THAT(text_, ::testing::HasSubstr("sample 4; 1 of"));
}

TEST_P(EveryPde, OneSwappedSample) {
  EXPECT_FALSE(passes(changed([](Tensor u) { u[3].copy_(u[5].clone()); }))) << text_;
  EXPECT_THAT(text_, ::testing::HasSubstr("sample 3; 1 of"));
}

TEST_P(EveryPde, AWrongParameter) {
  for (const auto& parameter : pde_->parameters()) {
    if (!parameter.choices.empty() || parameter.length) continue;
    const auto other = with_parameter(*pde_, parameter.name, 1.1 * parameter.value.get<double>());
    auto data = make_dataset(*other, 0, 0, 6);
    EXPECT_FALSE(passes(data)) << parameter.name << "\n" << text_;
    EXPECT_THAT(text_, ::testing::ContainsRegex("parameter " + parameter.name + "[^\n]*FAILED"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryPde, ::testing::ValuesIn(testing::every_pde()), [](const auto& pde) {
  auto name = pde.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(OneOfAThousand, IsFound) {
  set_progress_mode(ProgressMode::silent);
  for (const std::string name : {"darcy", "stokes", "stefan"}) {
    const auto pde = make_pde({.name = name, .grid = 16});
    auto data = make_dataset(*pde, 1, 0, 1000);
    const auto clean = check_dataset(data, *pde, {.explain = false});
    EXPECT_TRUE(clean.pass()) << clean.text();
    data.fields[777][0][5][11] += 0.01f * data.fields[777][0].abs().max();
    const auto damaged = check_dataset(data, *pde, {.explain = false});
    EXPECT_FALSE(damaged.pass());
    EXPECT_EQ(damaged.worst[0].sample, 777) << damaged.text();
    EXPECT_LT(damaged.worst[1].severity, 1);
  }
}

}  // namespace
}  // namespace piddm
