#include "piddm/core/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "piddm/core/log.h"
#include "piddm/core/progress.h"
#include "tests/testing.h"

namespace piddm {
namespace {

TEST(Printable, KeepsTextAndShowsWhatATerminalWouldObey) {
  const std::string text = "Größe ∂u/∂t, 10 %\n\tend 😀";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("\x1b[2J\r\a\b"), "\\x1b[2J\\x0d\\x07\\x08");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");                               // CSI in one character
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right to left
}

TEST(Printable, ShowsWhatIsNoUtf8ByteByByte) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");                           // cut off
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");                    // longer than needed
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of UTF-16
  EXPECT_EQ(printable("\xf7\xbf\xbf\xbf"), "\\xf7\\xbf\\xbf\\xbf");  // beyond Unicode
}

TEST(Printable, OneLineHasNoBreaks) { EXPECT_EQ(printable_line("a\nb\tc\x1b"), "a b c\\x1b"); }

// Descriptors are closed in child processes, and in fresh ones, because of threads.
class StandardStreamsDeathTest : public ::testing::Test {
 protected:
  StandardStreamsDeathTest() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

/// 0 if no file gets the number of a closed stream, results cannot be written and messages vanish.
int outcome_without_streams() {
  for (const int stream : {0, 1, 2}) ::close(stream);
  open_standard_streams();
  const testing::TempDir folder;
  const int file = ::open((folder / "file").c_str(), O_WRONLY | O_CREAT, 0600);
  if (file <= STDERR_FILENO) return 1;
  if (::write(STDOUT_FILENO, "x", 1) == 1) return 2;
  say("message");
  return testing::read_text(folder / "file").empty() ? 0 : 3;
}

TEST_F(StandardStreamsDeathTest, NoFileTakesTheirPlace) {
  EXPECT_EXIT(std::_Exit(outcome_without_streams()), ::testing::ExitedWithCode(0), "");
}

/// 0 if progress and messages go on with a standard error that cannot be written.
int outcome_on_a_full_disk() {
  const int full = ::open("/dev/full", O_WRONLY);
  if (::dup2(full, STDERR_FILENO) < 0) return 1;
  set_up_logging(false);
  spdlog::warn("message");
  {
    Progress progress("train", 2);
    progress.advance(2, "done");
  }
  return 0;
}

TEST_F(StandardStreamsDeathTest, AFullStandardErrorIsNoFailure) {
  EXPECT_EXIT(std::_Exit(outcome_on_a_full_disk()), ::testing::ExitedWithCode(0), "");
}

TEST(Log, ShowsWhatATerminalWouldObey) {
  set_up_logging(false);
  ::testing::internal::CaptureStderr();
  spdlog::warn("channel '{}'", "\x1b[2J");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "channel '\\x1b[2J'\n");
}

}  // namespace
}  // namespace piddm
