#include "piddm/core/progress.h"

#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;

/// What a loop of this many steps leaves on standard error, which is not a terminal here.
std::string output_of(int64_t steps, int64_t total, int64_t done = 0) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress("train", total, done);
    for (int64_t i = 0; i < steps; ++i) progress.advance(1, "loss 0.25");
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(Progress, EndsInOneLine) {
  const auto text = output_of(8, 8);
  for (const std::string part : {"train", "100%", "8/8", "loss 0.25"}) EXPECT_THAT(text, HasSubstr(part));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Progress, SaysHowFarItCame) { EXPECT_THAT(output_of(2, 8, 4), HasSubstr(" 75%  6/8")); }

TEST(Progress, EmptyLoopIsNoDivisionByZero) { EXPECT_THAT(output_of(0, 0), HasSubstr("  0%  0/1")); }

TEST(Progress, CanBeSilent) {
  set_progress_mode(ProgressMode::silent);
  EXPECT_EQ(output_of(3, 3), "");
  set_progress_mode(ProgressMode::automatic);
}

}  // namespace
}  // namespace piddm
