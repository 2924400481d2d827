#pragma once
// What `generate` and `solve` do with samples once they have them.

#include "piddm/data/dataset.h"
#include "piddm/model/model.h"
#include "piddm/solve/decode.h"

namespace piddm::cli {

/// pde_error, rel_residual, boundary_error and the work done.
void add_physics(json& report, const Samples& samples, const Pde& pde);

/// A data file whose description says where the samples come from.
void save_samples(const std::string& out, const Samples& samples, const Model& model, const json& report);

/// One "key  value" line an entry.
std::string format_report(const json& report);

}  // namespace piddm::cli
