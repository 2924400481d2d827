#include "piddm/files/atomic_file.h"
#include "piddm/core/input_file.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/files/faults.h"
#include "tests/testing.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::read_text;
using testing::TempDir;
using testing::write_text;

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(AtomicFile, ReplacesTheWholeContentAndLeavesNothingElse) {
  const TempDir dir;
  write_file_atomically(dir / "a", "a long first version");
  write_file_atomically(dir / "a", "second");
  EXPECT_EQ(read_file(dir / "a", 100), "second");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(AtomicFile, WithoutCommitTheOldContentStays) {
  const TempDir dir;
  write_file_atomically(dir / "a", "old");
  {
    AtomicFile file(dir / "a");
    file.write("new");
    EXPECT_EQ(entries(dir.path()), 2u);
  }
  EXPECT_EQ(read_text(dir / "a"), "old");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(AtomicFile, NamesNearTheLimitOfTheFileSystemWork) {
  const TempDir dir;
  const std::string name(250, 'x');
  write_file_atomically(dir / name, "text");
  EXPECT_EQ(read_text(dir / name), "text");
}

TEST(AtomicFile, RefusesDevicesAndFolders) {
  const TempDir dir;
  EXPECT_ERROR(AtomicFile("/dev/null"), ExitCode::resources, "/dev/null: not a regular file");
  EXPECT_ERROR(AtomicFile{dir.path()}, ExitCode::resources, "not a regular file");
  EXPECT_ERROR(AtomicFile(dir / "missing/a"), ExitCode::resources, "No such file or directory");
}

TEST(AtomicFile, AProcessThatDiesLeavesOnlyATemporaryThatCanBeCleaned) {
  const TempDir dir;
  write_file_atomically(dir / "a", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(dir / "a");
    file.write("half of the new");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const AtomicFile alive(dir / "b");
  EXPECT_EQ(read_text(dir / "a"), "old");
  EXPECT_EQ(entries(dir.path()), 3u);
  EXPECT_EQ(remove_stale_temporaries(dir.path()), 1);
  EXPECT_EQ(entries(dir.path()), 2u);
}

TEST(AtomicFile, ShortWriteThenFailureKeepsTheOldContent) {
  const TempDir dir;
  write_file_atomically(dir / "a", "old");
  {
    const testing::FileSizeLimit limit(4096);
    EXPECT_ERROR(write_file_atomically(dir / "a", std::string(10000, 'x')), ExitCode::resources,
                 (dir / "a").string() + ": File too large");
  }
  EXPECT_EQ(read_text(dir / "a"), "old");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(AtomicFile, FullDiskKeepsTheOldContent) {
  const TempDir dir;
  const testing::SmallDisk disk(dir / "disk", 64);
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount";
  write_file_atomically(dir / "disk/a", "old");
  EXPECT_ERROR(write_file_atomically(dir / "disk/a", std::string(200000, 'x')), ExitCode::resources,
               "No space left on device");
  EXPECT_EQ(read_text(dir / "disk/a"), "old");
  EXPECT_EQ(entries(dir / "disk"), 1u);
}

TEST(AtomicFile, UnwritableFolderIsAResourceError) {
  const TempDir dir;
  fs::permissions(dir.path(), fs::perms(0555));
  {
    const testing::OrdinaryUser user;
    EXPECT_ERROR(write_file_atomically(dir / "a", "x"), ExitCode::resources, "Permission denied");
    EXPECT_ERROR(AtomicFolder(dir / "f"), ExitCode::resources, "Permission denied");
  }
  fs::permissions(dir.path(), fs::perms(0755));
}

TEST(AtomicFolder, AppearsAndIsReplacedAsAWhole) {
  const TempDir dir;
  for (const std::string version : {"1", "2"}) {
    AtomicFolder folder(dir.path() / "out/");
    write_text(folder.path() / ("only-in-" + version), version);
    fs::create_directories(folder.path() / "sub");
    write_text(folder.path() / "sub/deep", version);
    EXPECT_EQ(fs::exists(dir / "out/only-in-1"), version == "2");
    folder.commit();
  }
  EXPECT_FALSE(fs::exists(dir / "out/only-in-1"));
  EXPECT_EQ(read_text(dir / "out/sub/deep"), "2");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(AtomicFolder, WithoutCommitNothingChanges) {
  const TempDir dir;
  {
    const AtomicFolder folder(dir / "out");
    write_text(folder.path() / "a", "x");
  }
  EXPECT_EQ(entries(dir.path()), 0u);
}

TEST(AtomicFolder, DoesNotReplaceAFile) {
  const TempDir dir;
  write_text(dir / "out", "x");
  EXPECT_ERROR(AtomicFolder(dir / "out"), ExitCode::resources, "not a folder");
}

TEST(ReadFile, SaysWhatIsWrong) {
  const TempDir dir;
  write_text(dir / "a", "12345");
  EXPECT_EQ(read_file(dir / "a", 5), "12345");
  EXPECT_ERROR(read_file(dir / "a", 4), ExitCode::data, "5 bytes, more than the 4");
  EXPECT_ERROR(read_file(dir / "b", 4), ExitCode::data, "b: no such file");
  EXPECT_ERROR(read_file(dir / "a/b", 4), ExitCode::data, "no such file");
  EXPECT_ERROR(read_file(dir.path(), 4), ExitCode::data, "not a regular file");
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_ERROR(read_file(dir / "pipe", 4), ExitCode::data, "not a regular file");
  EXPECT_ERROR(InputFile(dir / "a").read(3, nullptr, 3), ExitCode::data, "truncated");
  EXPECT_ERROR(InputFile(dir / "a").read(~uint64_t{0}, nullptr, 3), ExitCode::data, "truncated");
}

TEST(ReadFile, UnreadableIsAResourceError) {
  const TempDir dir;
  write_text(dir / "a", "x");
  fs::permissions(dir / "a", fs::perms(0));
  const testing::OrdinaryUser user;
  EXPECT_ERROR(read_file(dir / "a", 4), ExitCode::resources, "Permission denied");
}

}  // namespace
}  // namespace piddm
