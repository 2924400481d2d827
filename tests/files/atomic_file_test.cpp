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

/// Runs `f` in a process that ends without cleaning up.
template <class F>
void in_dying_process(F&& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    f();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
}

TEST(AtomicFile, AProcessThatDiesLeavesOnlyATemporaryThatCanBeCleaned) {
  const TempDir dir;
  write_file_atomically(dir / "a", "old");
  in_dying_process([&] { (new AtomicFile(dir / "a"))->write("half of the new"); });
  const AtomicFile alive(dir / "b");
  EXPECT_EQ(read_text(dir / "a"), "old");
  EXPECT_EQ(entries(dir.path()), 3u);
  EXPECT_EQ(remove_stale_temporaries(dir.path()), 1);
  EXPECT_EQ(entries(dir.path()), 2u);
}

TEST(AtomicFile, TheNextWriterCleansUpAfterDeadOnesOfItsNameOnly) {
  const TempDir dir;
  in_dying_process([&] {
    for (const char* name : {"a", "a", "b"}) new AtomicFile(dir / name);
    for (const char* name : {"f", "f"}) write_text((new AtomicFolder(dir / name))->path() / "x", "x");
  });
  EXPECT_EQ(entries(dir.path()), 5u);
  write_file_atomically(dir / "a", "new");
  EXPECT_EQ(entries(dir.path()), 4u);
  AtomicFolder(dir / "f").commit();
  EXPECT_EQ(entries(dir.path()), 3u);
  EXPECT_EQ(remove_stale_temporaries_of(dir / "b"), 1);
  EXPECT_EQ(entries(dir.path()), 2u);
}

TEST(AtomicFile, WhatALivingProcessWritesIsNotStaleWhateverItsNumber) {
  const TempDir dir;
  AtomicFile file(dir / "a"), again(dir / "a");
  AtomicFolder folder(dir / "f");
  EXPECT_EQ(remove_stale_temporaries(dir.path()), 0);
  EXPECT_EQ(remove_stale_temporaries_of(dir / "a"), 0);
  file.write("1");
  again.write("2");
  again.commit();
  file.commit();
  write_text(folder.path() / "x", "x");
  folder.commit();
  EXPECT_EQ(read_text(dir / "a"), "1");
  EXPECT_EQ(entries(dir.path()), 2u);
}

TEST(AtomicFile, TemporariesOfEarlierVersionsAreCleaned) {
  const TempDir dir;
  write_text(dir / fmt::format(".a.{}-0.tmp", ::getpid()), "of another container with the same process number");
  write_text(dir / ".hidden.tmp", "not ours");
  EXPECT_EQ(remove_stale_temporaries(dir.path()), 1);
  EXPECT_EQ(entries(dir.path()), 1u);
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

TEST(AtomicFolder, ReplacedByAProcessThatDiedBetweenTwoRenamesIsRecovered) {
  const TempDir dir;
  const auto lose = [&] {
    AtomicFolder folder(dir / "out");
    write_text(folder.path() / "a", "old");
    folder.commit();
    fs::rename(dir / "out", dir / ".out.0.old");
  };
  lose();
  recover_folder(dir / "out/");
  EXPECT_EQ(read_text(dir / "out/a"), "old");
  lose();
  remove_stale_temporaries(dir.path());
  EXPECT_EQ(read_text(dir / "out/a"), "old");
  lose();
  {
    AtomicFolder folder(dir / "out");
    EXPECT_EQ(read_text(dir / "out/a"), "old");
  }
  fs::create_directories(dir / ".out.3.old/b");  // the folder is there: what is left of an old one is not needed
  recover_folder(dir / "out");
  EXPECT_EQ(read_text(dir / "out/a"), "old");
  EXPECT_EQ(remove_stale_temporaries(dir.path()), 1);
  EXPECT_EQ(entries(dir.path()), 1u);
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
