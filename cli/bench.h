#pragma once
// piddm bench: one command a file. data: cli/bench_data.cpp; spectral, fno, train and sample: cli/bench_network.cpp.

#include "cli/command.h"

namespace piddm::cli {

void add_bench_data(CLI::App& bench, Context& context);
void add_bench_network(CLI::App& bench, Context& context);

}  // namespace piddm::cli
