#include "piddm/pde/pde.h"
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
  EXPECT_ERROR(make_pde({.name = "darcy", .grid = 15}), ExitCode::usage, "grid = 15");
  EXPECT_ERROR(make_pde({.name = "darcy", .grid = 1025}), ExitCode::usage, "grid = 1025");
}

TEST(PdeOptions, ReadAndWrite) {
  PdeOptions options;
  read_fields(json{{"name", "darcy"}, {"grid", 48}}, options);
  EXPECT_EQ(options.grid, 48);
  EXPECT_EQ(write_fields(options)["name"], "darcy");
}

}  // namespace
}  // namespace piddm
