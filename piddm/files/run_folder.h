#pragma once
// The folder of one training run: config.toml (resolved; its first line is a comment with the digest of the rest),
// origin.json (what it was begun from, experiment/run_origin.h; a document of json_file.h), metrics.jsonl,
// checkpoints/, and .lock, held by the process that works in it.

#include <filesystem>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/files/checkpoint.h"
#include "piddm/files/file_lock.h"

namespace piddm {

class RunFolder {
 public:
  /// A new run. A UsageError if the folder already holds one; a ResourceError if it cannot be written or another
  /// process works in it.
  static RunFolder create(const std::filesystem::path& path, const json& config, const json& origin = json::object());

  /// An existing run, to continue it; a DataError if there is none.
  static RunFolder open(const std::filesystem::path& path);

  /// What can be read without the lock: whether there is a run, its settings, and what it was begun from (empty where
  /// that is not said).
  static bool exists(const std::filesystem::path& path);
  static json read_config(const std::filesystem::path& path);
  static json read_origin(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const json& config() const { return config_; }

  /// Replaces the settings that the run is continued with.
  void store(const json& config);

  /// Takes back what create() wrote: the folder holds no run any more.
  void forget() const;

  /// One line, handed to the system at once; a write that fails leaves no part of the line.
  void append_metrics(const json& row) const;

  /// Drops the lines whose "step" is greater than `step`, and a torn last line, so that a resumed run continues the
  /// file.
  void truncate_metrics(int64_t step) const;

  CheckpointStore checkpoints(int keep_last) const;

  /// The rows of a run folder or of a metrics.jsonl file; a torn last line is left out. Takes no lock.
  static std::vector<json> read_metrics(const std::filesystem::path& path);

 private:
  explicit RunFolder(std::filesystem::path path);

  std::filesystem::path path_;
  json config_;
  std::optional<FileLock> lock_;
};

}  // namespace piddm
