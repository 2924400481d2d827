#pragma once
// What `generate` and `solve` do with samples once they have them.

#include "piddm/data/dataset.h"
#include "piddm/model/model.h"
#include "piddm/solve/decode.h"

namespace piddm::cli {

/// A data file whose description says where the samples come from.
void save_samples(const std::string& out, const Samples& samples, const Model& model, const json& report);

/// One "key  value" line per entry.
std::string format_report(const json& report);

}  // namespace piddm::cli
