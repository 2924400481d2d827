// Floors and checks of data of a PDE with several equations.

#include "piddm/core/progress.h"
#include "piddm/data/check/data_check.h"
#include "tests/flux_darcy.h"
#include "tests/testing.h"

namespace piddm {
namespace {

class SeveralEquations : public ::testing::Test {
 protected:
  void SetUp() override { set_progress_mode(ProgressMode::silent); }

  /// The rows of the report that fail, of those that speak of residuals.
  std::vector<std::string> failing() const {
    std::vector<std::string> names;
    for (const auto& check : check_dataset(data_, *pde_).checks)
      if ((check.name.starts_with("pde_error") || check.name.starts_with("rel_residual")) && !check.pass())
        names.push_back(check.name);
    return names;
  }

  PdePtr pde_ = testing::flux_darcy(32);
  Dataset data_ = make_dataset(*pde_, 0, 0, 20);
};

TEST_F(SeveralEquations, TheFloorOfEachIsInTheFile) {
  const auto& floor = data_.description.floor;
  for (const char* key : {"pde_error", "rel_residual", "worst_rel_residual", "boundary_error", "pde_error_flux_x",
                          "rel_residual_flux_y", "pde_error_mass"})
    EXPECT_TRUE(floor.contains(key) && floor.at(key).get<double>() >= 0) << key;
  EXPECT_NEAR(floor.at("pde_error").get<double>(),
              (floor.at("pde_error_flux_x").get<double>() + floor.at("pde_error_flux_y").get<double>() +
               floor.at("pde_error_mass").get<double>()) /
                  3,
              1e-20);
  EXPECT_FALSE(
      make_dataset(*make_pde({.name = "darcy", .grid = 16}), 0, 0, 2).description.floor.contains("pde_error_mass"));
  EXPECT_THAT(failing(), ::testing::IsEmpty());
}

// A flux along x that is off breaks its own law and the balance, not the law along y.
TEST_F(SeveralEquations, ACheckNamesTheEquationThatIsBroken) {
  data_.fields.select(1, 1) *= 1.01;
  EXPECT_THAT(failing(), ::testing::UnorderedElementsAre("pde_error", "rel_residual", "pde_error_flux_x",
                                                         "rel_residual_flux_x", "pde_error_mass", "rel_residual_mass"));
}

// Each channel in its own unit: p is a thirtieth of q.
TEST_F(SeveralEquations, AGivenConstraintIsMeasuredByItsOwnChannel) {
  const auto error = [&](const json& spec) {
    const auto report = check_dataset(data_, *pde_, {.constraint = make_constraint(spec, *pde_)});
    const auto& last = report.checks.back();
    EXPECT_EQ(last.name, "worst given constraint, relative");
    return last.value;
  };
  const auto rms = data_.fields.square().mean({2, 3}).sqrt();
  for (const int64_t c : {0, 1}) {
    const auto edge = data_.fields.select(1, c).select(1, 3).square().mean(1).sqrt();
    const double expected = (edge / rms.select(1, c)).max().item<double>();
    EXPECT_NEAR(error({{"kind", "slice"}, {"channel", data_.channels[c]}, {"axis", "x"}, {"index", 3}, {"value", 0.0}}),
                expected, 1e-5 * expected);
  }
}

// A flux without sources or sinks breaks the laws, but not the balance.
TEST_F(SeveralEquations, ABalancedErrorIsSeenByTheOthers) {
  auto stream = torch::zeros({32, 32}, torch::kFloat32);
  stream.slice(0, 8, 20).slice(1, 8, 20) = 1e-4F;  // of a vortex, at the upper corners of the cells
  const auto zero = torch::zeros({1, 32});
  data_.fields.select(1, 1) += 32 * (stream - torch::cat({zero.t(), stream.slice(1, 0, 31)}, 1));
  data_.fields.select(1, 2) -= 32 * (stream - torch::cat({zero, stream.slice(0, 0, 31)}, 0));
  const auto broken = failing();
  EXPECT_THAT(broken, ::testing::IsSupersetOf({"pde_error_flux_x", "pde_error_flux_y", "pde_error"}));
  EXPECT_THAT(broken, ::testing::Not(::testing::Contains("pde_error_mass")));
}

}  // namespace
}  // namespace piddm
