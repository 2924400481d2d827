#pragma once
// The result of piddm bench spectral, fno, train or sample as a table for people.

#include <string>

#include "piddm/core/fields.h"

namespace piddm::cli {

/// `result` as described in docs/benchmarks.md.
std::string network_report(const json& result);

}  // namespace piddm::cli
