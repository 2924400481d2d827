#pragma once
// Data files that are larger than memory: samples go to disk as they are generated.
//
// One file, or K shards FILE-00001-of-0000K.npz with an index FILE.json (what load_dataset takes). Every file carries
// its JSON description inside and has a FILE.sha256 beside it. The values do not depend on the number of shards. One
// process at a time makes the sets of a name (.FILE.lock, without FILE's extension).

#include <filesystem>

#include "piddm/data/generate.h"

namespace piddm {

struct MakeOptions {
  SampleRange range;
  int64_t shards = 1;
  bool resume = false;  ///< keep finished shards: SHA-256 right, and the description is that of this request
};

struct MadeFiles {
  std::filesystem::path path;  ///< what to load: the file, or the index of the shards
  json description;            ///< of the whole set
  int64_t kept = 0;            ///< files that were there already
};

/// Names of the files of a set: FILE itself for one shard.
std::vector<std::filesystem::path> shard_paths(const std::filesystem::path& path, int64_t shards);

/// Generates and writes the set. Memory: two batches and, where shards are kept, one shard. A ResourceError, before any
/// work, while another process makes a set of this name.
MadeFiles make_data_files(const std::filesystem::path& path, const Pde& pde, const MakeOptions& options);

}  // namespace piddm
