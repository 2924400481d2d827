#include "piddm/pde/pde.h"
#include "tests/data/fake_pde.h"
#include "tests/flux_darcy.h"
#include "tests/testing.h"

namespace piddm {
namespace {

TEST(PdeRegistry, MakesWhatItLists) {
  ASSERT_FALSE(pde_registry().entries().empty());
  for (const auto& entry : pde_registry().entries()) {
    const PdePtr pde = make_pde({.name = entry.name, .grid = 16});
    EXPECT_EQ(pde->name(), entry.name);
    EXPECT_EQ(pde->grid(), 16);
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_EQ(pde->sample(0, 0, 1).sizes(), torch::IntArrayRef({1, pde->num_channels(), 16, 16}));
  }
}

TEST(PdeRegistry, UnknownNameSaysTheNearest) {
  EXPECT_ERROR(make_pde({.name = "dracy", .grid = 32}), ExitCode::usage, "dracy");
  EXPECT_ERROR(make_pde({.name = "dracy", .grid = 32}), ExitCode::usage, "'darcy'");
}

TEST(PdeRegistry, RefusesGridsOutOfRange) {
  EXPECT_ERROR(make_pde({.name = "darcy", .grid = 15}), ExitCode::usage,
               "pde.grid: must be at least 16 and at most 1024, got 15");
  EXPECT_ERROR(make_pde({.name = "darcy", .grid = 1025}), ExitCode::usage,
               "pde.grid: must be at least 16 and at most 1024, got 1025");
}

class OwnPde : public testing::FakePde {
 public:
  explicit OwnPde(const PdeOptions& options) : FakePde(options.grid) {}
};

TEST(PdeRegistry, TakesThePdesOfAProgram) {
  pde_registry().add({"fake", "twice a and s", make_registered_pde<OwnPde>});
  EXPECT_EQ(make_pde({.name = "fake", .grid = 16})->name(), "fake");
  EXPECT_EQ(pde_registry().names().back(), "fake");
  EXPECT_ERROR(pde_registry().add({"fake", "", make_registered_pde<OwnPde>}), ExitCode::usage,
               "there is a PDE called 'fake' already");
  EXPECT_ERROR(pde_registry().add({"darcy", "", make_registered_pde<OwnPde>}), ExitCode::usage, "'darcy' already");
}

TEST(PdeOptions, ReadAndWrite) {
  PdeOptions options;
  read_fields(json{{"name", "darcy"}, {"grid", 48}}, options);
  EXPECT_EQ(options.grid, 48);
  EXPECT_EQ(write_fields(options)["name"], "darcy");
}

class Unnamed : public testing::FluxDarcy {
 public:
  explicit Unnamed(const PdeOptions& options) : FluxDarcy(options) {}
  std::vector<Equation> equations() const override { return {{1, "flux"}, {1, "flux"}, {1, "mass"}}; }
};

TEST(PdeRegistry, RefusesEquationsWithoutNamesOfTheirOwn) {
  pde_registry().add({"unnamed", "two equations of one name", make_registered_pde<Unnamed>});
  EXPECT_ERROR(make_pde({.name = "unnamed", .grid = 16}), ExitCode::usage, "several need names, each its own");
}

}  // namespace
}  // namespace piddm
