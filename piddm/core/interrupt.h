#pragma once
// Signals that ask the program to end. They set a flag; long loops look at it, save what they have and throw.
//
//   HUP, INT, TERM, PIPE   Interrupted: the terminal or its connection is gone, Ctrl-C, a job manager, nobody reads
//   XFSZ                   ResourceError: a file reached the size limit of the process (ulimit -f)
//
// A second Ctrl-C ends the process at once. A second HUP or TERM does not: a shell and a job manager may both send one,
// and the work must be saved. HUP and PIPE stay ignored where they were (nohup).

#include <string>

namespace piddm {

void install_interrupt_handler();
bool interrupt_requested();

/// "interrupted while WHAT", if a signal has come.
void throw_if_interrupted(const char* what);

/// What a signal that has come stands for, as an error: "interrupted DETAIL". Interrupted if none has.
[[noreturn]] void throw_interrupted(const std::string& detail);

}  // namespace piddm
