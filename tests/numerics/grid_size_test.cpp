#include "piddm/numerics/grid_size.h"

#include "tests/testing.h"

namespace piddm {
namespace {

TEST(GridSize, IsReadInEveryForm) {
  EXPECT_EQ(GridSize::from_json(64, "g"), GridSize(64, 64));
  EXPECT_EQ(GridSize::from_json("64", "g"), GridSize(64));
  EXPECT_EQ(GridSize::from_json("64x32", "g"), GridSize(64, 32));
  EXPECT_EQ(GridSize::from_json({64, 32}, "g"), GridSize(64, 32));
}

TEST(GridSize, IsWrittenAsItIsRead) {
  EXPECT_EQ(GridSize(64).to_json(), json(64));
  EXPECT_EQ(GridSize(64, 32).to_json(), (json{64, 32}));
  EXPECT_EQ(GridSize(64, 32).text(), "64x32");
  EXPECT_EQ(GridSize(64, 32).points(), 2048);
  EXPECT_EQ(GridSize(64, 32).smaller(), 32);
  EXPECT_FALSE(GridSize(64, 32).square());
}

TEST(GridSize, AnythingElseIsRefusedWithWhatToWrite) {
  for (const json& wrong : {json("64x"), json("x32"), json("64x32x16"), json("64 x 32"), json("many"), json(""),
                            json(6.5), json(nullptr), json{64}, json{64, 32, 16}, json{64, "32"}, json::object()})
    EXPECT_ERROR(GridSize::from_json(wrong, "pde.grid"), ExitCode::usage,
                 "pde.grid: expected points per side, 64 or 64x32");
}

}  // namespace
}  // namespace piddm
