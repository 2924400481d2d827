#pragma once
// Every type of network by name. A new one is its file pair and one line of the table in network_registry.cpp.

#include <string>

#include "piddm/core/registry.h"
#include "piddm/model/network.h"

namespace piddm {

const Registry<NetworkPtr(const json& options, uint64_t seed)>& network_registry();

/// The network a config's table describes: {type = "fno", and options of that type}. With `conditions` further channels
/// in, which only the FNO can take.
NetworkPtr network_from(const json& table, int64_t channels, uint64_t seed, int64_t conditions = 0);

/// The options of every type, one "PREFIX.key = default    # meaning" line each under a line with the type, for
/// `--keys`.
std::string describe_networks(const std::string& prefix);

}  // namespace piddm
