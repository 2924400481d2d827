#pragma once
// Peers: the same work done by other software in a Python child process. The scripts in benchmarks/peers print one JSON
// object each.

#include <string>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm::bench {

struct PeerCall {
  std::string script;                  ///< file name in benchmarks/peers
  std::string module;                  ///< what the interpreter must be able to import
  std::string python;                  ///< interpreter; "": python3 or /usr/bin/python3, "none": no peer
  std::vector<std::string> arguments;  ///< of the script
  std::string environment;             ///< "NAME=VALUE ...", before the command
};

/// What the script printed, or why there is nothing.
struct PeerAnswer {
  std::string absent;  ///< "": it is there
  json answer = json::object();
};

PeerAnswer call_peer(const PeerCall& call);

}  // namespace piddm::bench
