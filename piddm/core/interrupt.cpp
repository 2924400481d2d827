#include "piddm/core/interrupt.h"

#include <unistd.h>
#include <csignal>

#include "piddm/core/error.h"

namespace piddm {

namespace {

volatile std::sig_atomic_t first_signal = 0;
volatile std::sig_atomic_t keys_seen = 0;  // Ctrl-C

void on_signal(int number) {
  if (first_signal == 0) first_signal = number;
  if (number != SIGINT) return;
  keys_seen = keys_seen + 1;
  if (keys_seen > 1) _exit(static_cast<int>(ExitCode::interrupted));
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
