#include "piddm/core/interrupt.h"

#include <unistd.h>
#include <csignal>

#include "piddm/core/error.h"

namespace piddm {

namespace {

volatile std::sig_atomic_t signals_seen = 0;

void on_signal(int) {
  signals_seen = signals_seen + 1;
  if (signals_seen > 1) _exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupt_requested() { return signals_seen > 0; }

void throw_if_interrupted(const char* what) {
  if (interrupt_requested()) throw Interrupted("interrupted while {}", what);
}

}  // namespace piddm
