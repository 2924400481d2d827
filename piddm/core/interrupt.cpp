#include "piddm/core/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "piddm/core/error.h"

namespace piddm {

namespace {

// Signals come to any thread, all of them ask. Without locks, so that a handler may use them.
std::atomic<int> first_signal = 0;
std::atomic<int> keys_seen = 0;  // Ctrl-C
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int number) {
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
  if (number == SIGINT && ++keys_seen > 1) _exit(static_cast<int>(ExitCode::interrupted));
}

bool ignored(int number) {
  struct sigaction before {};
  return sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGINT, SIGTERM, SIGXFSZ}) sigaction(number, &action, nullptr);
  for (const int number : {SIGHUP, SIGPIPE})
    if (!ignored(number)) sigaction(number, &action, nullptr);
}

bool interrupt_requested() { return first_signal != 0; }

void throw_if_interrupted(const char* what) {
  if (interrupt_requested()) throw_interrupted(fmt::format("while {}", what));
}

void throw_interrupted(const std::string& detail) {
  if (first_signal == SIGXFSZ)
    throw ResourceError("interrupted {}: a file reached the size limit of this process (see `ulimit -f`)", detail);
  throw Interrupted("interrupted {}", detail);
}

}  // namespace piddm
