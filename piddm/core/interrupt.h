#pragma once
// Ctrl-C and SIGTERM set a flag; long loops look at it, save what they have and throw Interrupted. A second Ctrl-C ends
// the process at once.

namespace piddm {

void install_interrupt_handler();
bool interrupt_requested();

/// Throws Interrupted if a signal has come; `what` says what was going on.
void throw_if_interrupted(const char* what);

}  // namespace piddm
