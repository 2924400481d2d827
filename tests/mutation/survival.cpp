#include "tests/mutation/survival.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "piddm/core/error.h"
#include "tests/mutation/mutate.h"

namespace piddm::testing {

namespace {

constexpr int64_t kMostBytes = int64_t{512} << 20;
constexpr double kMostSeconds = 1;
constexpr int kHangSeconds = 30;

int64_t mutations() {
  const char* given = std::getenv("PIDDM_MUTATIONS");
  return given == nullptr ? 20000 : std::max<int64_t>(std::atoll(given), 100);
}

int64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

char running[128] = "";  ///< what a hang is blamed on

void on_hang(int) {
  const char text[] = ": hangs\n";
  if (::write(STDERR_FILENO, running, std::strlen(running)) < 0 || ::write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
    ::_exit(3);
  ::_exit(2);
}

/// While it lives, 30 seconds of processor time without a call of begin() end the program.
class HangWatch {
 public:
  HangWatch() : before_(std::signal(SIGPROF, on_hang)) {}
  ~HangWatch() {
    set(0);
    std::signal(SIGPROF, before_);
  }
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

  void begin(const std::string& name) {
    std::strncpy(running, name.c_str(), sizeof(running) - 1);
    set(kHangSeconds);
  }

 private:
  static void set(int seconds) {
    const itimerval timer{{0, 0}, {seconds, 0}};
    ::setitimer(ITIMER_PROF, &timer, nullptr);
  }
  void (*before_)(int);
};

std::string mutated(const FileKind& kind, int64_t i) {
  const auto& seed = kind.seeds[static_cast<size_t>(i) % kind.seeds.size()];
  const auto number = static_cast<uint64_t>(i);
  if (kind.content == Content::bytes || i / static_cast<int64_t>(kind.seeds.size()) % 2 == 0)
    return mutate_bytes(seed, number);
  return kind.content == Content::json ? mutate_json(seed, number) : mutate_lines(seed, number);
}

/// Whether it was refused.
bool refuses(const FileKind& kind, const std::string& content, const std::string& name) {
  try {
    kind.read(content);
    return false;
  } catch (const Error& error) {
    EXPECT_TRUE(!kind.only_data_errors || error.code() == ExitCode::data) << name << ": " << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << name << ": not an error of ours: " << error.what();
  }
  return true;
}

}  // namespace

void expect_survival(const FileKind& kind) {
  const auto count = static_cast<int64_t>(kind.share * static_cast<double>(mutations()));
  ASSERT_NO_THROW(for (const auto& seed : kind.seeds) kind.read(seed)) << kind.name << ": a good file is refused";
  const auto before = peak_bytes();
  const double began = thread_seconds();
  int64_t refused = 0;
  HangWatch watch;
  for (int64_t i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const auto name = kind.name + " mutation " + std::to_string(i);
    watch.begin(name);
    const auto content = mutated(kind, i);
    const double start = thread_seconds();
    refused += refuses(kind, content, name);
    EXPECT_LT(thread_seconds() - start, kMostSeconds) << name;
  }
  EXPECT_GT(refused, count / 20) << kind.name;
  EXPECT_LT(peak_bytes() - before, kMostBytes) << kind.name;
  std::printf("%s: %ld of %ld damaged files refused, %.1f s\n", kind.name.c_str(), static_cast<long>(refused),
              static_cast<long>(count), thread_seconds() - began);
}

}  // namespace piddm::testing
