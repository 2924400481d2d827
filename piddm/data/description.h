#pragma once
// What a data file says of itself beyond its arrays, and the JSON it is kept in: one reader, one writer.
//
//   version, pde, definition, grid, parameters, seed, channels, law, first, n, dtype,
//   floor {pde_error, rel_residual, worst_rel_residual, boundary_error}, and of a PDE with several equations
//   pde_error_NAME, rel_residual_NAME of each,
//   device, axes, domain, source, origin, and whatever else a file brought along
//
// grid, channels, n and dtype are facts of the arrays and written from them.

#include <optional>
#include <string>
#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/numerics/grid_size.h"

namespace piddm {

struct DataDescription {
  std::string pde = {};               ///< of which these are samples; empty: of none of ours
  json definition = {};               ///< the text of a PDE that is not in the registry; null: it is, or none is known
  json parameters = {};               ///< its constants; null: not declared
  std::optional<uint64_t> seed = {};  ///< sample i is number first + i of this seed's stream
  std::string law = {};               ///< what they were drawn from, in one line; empty: of other origin
  std::optional<int64_t> first = {};  ///< see seed
  json floor = {};                    ///< how well they satisfy the equation; null: not measured
  std::string device = {};            ///< where they were computed; empty: on the CPU
  std::string axes = {};              ///< of imported data in time: "xt", or "tx"
  json domain = {};                   ///< of imported data: {axis: [first, last]}
  json source = {};                   ///< of imported data: files, preset, map, notes
  json origin = {};                   ///< of generated samples: method, seed and cost
  json more = json::object();         ///< any other key

  bool operator==(const DataDescription&) const = default;
};

/// Keys of the wrong type are left in `more`; null is an empty description.
DataDescription read_description(json j);

json write_description(const DataDescription& description, const std::vector<std::string>& channels, int64_t n,
                       const GridSize& grid, torch::ScalarType dtype);

/// The list of channels in a description; a DataError where it has none.
std::vector<std::string> described_channels(const json& j, const std::string& origin);

/// A DataError for the description of a later version of the program.
void check_description_version(const json& j, const std::string& origin);

/// "float32" or "float64"; any other type is a UsageError.
std::string data_type_name(torch::ScalarType dtype);

}  // namespace piddm
