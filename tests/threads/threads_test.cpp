// What several threads use at once, under the thread sanitizer: locks, atomic files, progress, the interrupt flag.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/core/input_file.h"
#include "piddm/core/interrupt.h"
#include "piddm/core/progress.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/file_lock.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;

constexpr int kThreads = 8, kRounds = 200;

void in_threads(const std::function<void(int thread)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (auto& thread : threads) thread.join();
}

class Threads : public ::testing::Test {
 protected:
  Threads() : dir_(fs::temp_directory_path() / ("piddm-threads-" + std::to_string(::getpid()))) {
    fs::create_directories(dir_);
  }
  ~Threads() override {
    std::error_code ignored;
    fs::remove_all(dir_, ignored);
  }
  fs::path dir_;
};

TEST_F(Threads, OneHoldsALock) {
  for (const auto afterwards : {FileLock::Afterwards::keep, FileLock::Afterwards::remove}) {
    const auto file = dir_ / (afterwards == FileLock::Afterwards::keep ? "kept" : "removed");
    std::atomic<int> holders = 0, most = 0, acquired = 0;
    in_threads([&](int) {
      for (int i = 0; i < kRounds; ++i)
        if (const auto lock = FileLock::try_acquire(file, afterwards)) {
          const int now = ++holders;
          if (now > most) most = now;
          ++acquired;
          --holders;
        }
    });
    EXPECT_EQ(most, 1);
    EXPECT_GE(acquired, 1);
  }
}

TEST_F(Threads, FilesAreWholeWhileTheyAreReplaced) {
  const auto file = dir_ / "f";
  write_file_atomically(file, std::string(1000, 'a'));
  in_threads([&](int thread) {
    for (int i = 0; i < kRounds / 4; ++i) {
      if (thread % 2 == 0) write_file_atomically(file, std::string(1000, static_cast<char>('a' + thread)));
      const auto text = read_file(file, 1 << 20);
      EXPECT_EQ(text, std::string(1000, text.at(0)));
    }
  });
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1) << "a temporary stayed";
}

TEST_F(Threads, EachShowsItsProgress) {
  in_threads([](int thread) {
    set_progress_mode(ProgressMode::silent);
    Progress progress("thread " + std::to_string(thread), kRounds);
    for (int i = 0; i < kRounds; ++i) progress.advance(1, "note");
  });
}

TEST_F(Threads, AllSeeASignal) {
  install_interrupt_handler();
  std::atomic<int> seen = 0;
  std::thread sender([] { ::kill(::getpid(), SIGTERM); });
  in_threads([&](int) {
    while (!interrupt_requested()) std::this_thread::yield();
    EXPECT_THROW(throw_if_interrupted("waiting"), Interrupted);
    ++seen;
  });
  sender.join();
  EXPECT_EQ(seen, kThreads);
}

}  // namespace
}  // namespace piddm
