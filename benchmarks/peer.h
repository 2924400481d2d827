#pragma once
// Peers: the same work done by other people's software in a Python child process. Scripts lie in benchmarks/peers and
// print one JSON object.

#include <string>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm::cli {

struct PeerCall {
  std::string script;                  ///< file name in benchmarks/peers
  std::string module;                  ///< what the interpreter must be able to import
  std::string python;                  ///< interpreter; "": python3 or /usr/bin/python3, "none": no peer
  std::vector<std::string> arguments;  ///< of the script
  std::string environment;             ///< "NAME=VALUE ...", before the command
};

/// What the script printed, or {"absent": why there is nothing}.
json call_peer(const PeerCall& call);

}  // namespace piddm::cli
