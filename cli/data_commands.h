#pragma once
// The subcommands of `piddm data` that live in files of their own; cli/data.cpp adds them.

#include "cli/command.h"

namespace piddm::cli {

void add_import(CLI::App& data, Context& context);
void add_export(CLI::App& data, Context& context);

}  // namespace piddm::cli
