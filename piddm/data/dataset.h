#pragma once
// Samples of a PDE's joint law of solution and coefficients, in physical units.
//
// On disk: one [N,H,W] array per channel under the channel's name, in .npz (numpy.load reads it) or .safetensors, and a
// JSON description (member "description.json", metadata "description"; description.h has its keys). A set in shards
// (shards.h) is an index FILE.json (files/json_file.h), the same description with "shards": [{file, sha256, n}], and
// the shards beside it.

#include <filesystem>
#include <string>
#include <vector>

#include "piddm/data/description.h"
#include "piddm/pde/pde.h"

namespace piddm {

struct Dataset {
  DataDescription description = {};
  std::vector<std::string> channels = {};
  Tensor fields = {};  ///< [N,C,H,W], float32 or float64

  int64_t size() const { return fields.size(0); }
  GridSize grid() const { return {fields.size(2), fields.size(3)}; }
};

/// What becomes of values that are not finite and of a file whose SHA-256 is not the one kept beside it: `keep` leaves
/// them to data/check.
enum class Faults { refuse, keep };

/// A .npz or .safetensors file, or the .json index of a set in shards; digests are compared where there are any. A
/// DataError names what is wrong: a damaged file, a missing channel, different shapes, a value that is not finite
/// (channel, sample, position).
Dataset load_dataset(const std::filesystem::path& path, Faults faults = Faults::refuse);

/// Writes the index of a set in shards: its description with the list "shards".
void write_shard_index(const std::filesystem::path& path, json description);

/// By extension .npz or .safetensors, atomically; checks what load_dataset checks.
void save_dataset(const std::filesystem::path& path, const Dataset& dataset, torch::ScalarType dtype = torch::kFloat32);

/// Samples first..first+n-1 of this seed in memory, generated `shard` at a time with a progress bar; the bits do not
/// depend on `shard` or the number of threads. The floor is measured on the values as they are stored, in `dtype`.
Dataset make_dataset(const Pde& pde, uint64_t seed, int64_t first, int64_t n, int64_t shard = 256,
                     torch::ScalarType dtype = torch::kFloat32);

/// The description as it is written with these fields.
json describe(const Dataset& dataset);

/// The PDE the description names, with its parameters, on the data's grid; `name`, of a PDE or of its file
/// (pde/pde_file.h), replaces the declared one (and then the parameters are the defaults, unless it is the same PDE). A
/// UsageError where neither says.
PdePtr pde_of(const Dataset& dataset, const std::string& name = "");

/// Its options.
PdeOptions pde_options_of(const DataDescription& description, const GridSize& grid, const std::string& name = "");

/// Name, definition and parameters of a PDE, as a description declares them.
DataDescription declared_pde(const Pde& pde);

/// The channels of `dataset` must be those of the PDE, and its fields must fit the PDE's grid.
void check_fields(const Dataset& dataset, const Pde& pde);

/// A DataError where a description names another PDE, another definition of it, or other constants (those it leaves out
/// are the defaults).
/// A description that names no PDE passes. `subject` begins the message: "these data are".
void check_declared(const DataDescription& description, const Pde& pde, const std::string& subject);

/// Both.
void check_matches(const Dataset& dataset, const Pde& pde);

}  // namespace piddm
