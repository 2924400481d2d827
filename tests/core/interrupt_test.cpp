#include "piddm/core/interrupt.h"

#include <csignal>
#include <cstdlib>

#include "tests/testing.h"

namespace piddm {
namespace {

/// 0 if one signal sets the flag, and the flag becomes an error with its exit code and place.
int outcome_of_one(int signal, ExitCode expected = ExitCode::interrupted) {
  install_interrupt_handler();
  throw_if_interrupted("waiting");
  if (interrupt_requested()) return 1;
  std::raise(signal);
  if (!interrupt_requested()) return 2;
  try {
    throw_if_interrupted("training");
  } catch (const Error& error) {
    return error.code() == expected && std::string(error.what()).starts_with("interrupted while training") ? 0 : 3;
  }
  return 4;
}

// Signals are sent in child processes, because the flag cannot be taken back, and in fresh ones, because of threads.
class InterruptDeathTest : public ::testing::Test {
 protected:
  InterruptDeathTest() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(InterruptDeathTest, FirstSignalIsAnErrorAtTheNextLook) {
  EXPECT_EXIT(std::_Exit(outcome_of_one(SIGINT)), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(outcome_of_one(SIGTERM)), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(outcome_of_one(SIGHUP)), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(outcome_of_one(SIGPIPE)), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(outcome_of_one(SIGXFSZ, ExitCode::resources)), ::testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, WhatIsIgnoredStaysIgnored) {
  const auto outcome = [] {
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    install_interrupt_handler();
    std::raise(SIGHUP);
    std::raise(SIGPIPE);
    return interrupt_requested() ? 1 : 0;
  };
  EXPECT_EXIT(std::_Exit(outcome()), ::testing::ExitedWithCode(0), "");
}

// A shell and a job manager may both send one.
TEST_F(InterruptDeathTest, MoreThanOneOfTheOthersIsLikeOne) {
  const auto outcome = [] {
    install_interrupt_handler();
    for (const int signal : {SIGHUP, SIGTERM, SIGTERM, SIGPIPE, SIGPIPE}) std::raise(signal);
    return interrupt_requested() ? 0 : 1;
  };
  EXPECT_EXIT(std::_Exit(outcome()), ::testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, SecondKeyEndsTheProcess) {
  const auto two_signals = [] {
    install_interrupt_handler();
    std::raise(SIGINT);
    std::raise(SIGINT);
  };
  EXPECT_EXIT(two_signals(), ::testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace piddm
