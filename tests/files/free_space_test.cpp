#include "piddm/files/free_space.h"

#include "tests/testing.h"

namespace piddm {
namespace {

TEST(FreeSpace, AFileThatDoesNotFitIsRefusedBeforeItIsBegun) {
  const testing::TempDir folder;
  EXPECT_NO_THROW(require_free_space(folder / "x.npz", 1000));
  EXPECT_ERROR(require_free_space(folder / "x.npz", 1e21), ExitCode::resources,
               "x.npz: writing it takes 867 EiB, but ");
}

}  // namespace
}  // namespace piddm
