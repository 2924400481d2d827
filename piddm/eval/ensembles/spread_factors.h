#pragma once
// How much the intervals of a model's ensembles must be widened (conformal.h), kept beside the model:
//
//   MODEL/spread.json   one entry per method and task: factors by channel, and how they were found; SHA-256 of the
//                       weights they belong to; a document of files/json_file.h
//
// A model that is trained again begins without it.

#include <filesystem>
#include <optional>

#include "piddm/pde/pde.h"
#include "piddm/solve/ensemble.h"

namespace piddm {

struct SpreadFactors {
  std::string method, task;
  std::vector<std::pair<std::string, double>> channels = {};  ///< by name; two-valued channels have none
  json found = json::object();                                ///< cases, members, points, noise, seed: a record
};

/// Adds it, in place of what there was for this method and task. `path` is a run or model folder.
void store_spread(const std::filesystem::path& path, const SpreadFactors& factors);

/// What was stored for this method and task; a DataError where the file is damaged or of other weights.
std::optional<SpreadFactors> stored_spread(const std::filesystem::path& path, const std::string& method,
                                           const std::string& task);

/// The quantiles of the summary of members [N K,C,H,W], K >= kFewestMembers, widened about the median; those of
/// channels without a factor, members, mean and deviation stay.
void widen(EnsembleSummary& summary, const Tensor& members, int64_t k, const SpreadFactors& factors, const Pde& pde);

}  // namespace piddm
