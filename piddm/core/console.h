#pragma once
// Standard input, output and error: what a person sees. Texts may hold what a file says, so signs that a terminal would
// obey are shown instead ("\x1b"); messages are a courtesy, so a closed or full standard error never stops the work.

#include <string>
#include <string_view>

namespace piddm {

/// For the start of a program: where one of the three is closed the next file would get its number, and messages would
/// land in that file. Standard error goes nowhere then; what is written to standard output fails.
void open_standard_streams();

/// `text` with control characters (but line breaks and tabs), marks of writing direction and what is no UTF-8 written
/// as "\xNN" byte by byte.
std::string printable(std::string_view text);

/// The same in one line: line breaks and tabs become spaces.
std::string printable_line(std::string_view text);

/// To standard error at once and as it is; a failure is ignored.
void say(std::string_view text) noexcept;

}  // namespace piddm
