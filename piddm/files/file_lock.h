#pragma once
// A file that one process at a time holds, so that two runs in one folder keep out of each other's way.

#include <filesystem>
#include <optional>
#include <utility>

namespace piddm {

/// Held until destruction or the end of the process, however it ends. The file is made if needed.
class FileLock {
 public:
  /// What becomes of the file with the lock: it stays, or it is removed (after a kill by the next holder).
  enum class Afterwards { keep, remove };

  /// Nothing while another holds it (also another FileLock of this process); a ResourceError if the file cannot be made
  /// or locked. All who use one file must agree on `afterwards`.
  static std::optional<FileLock> try_acquire(const std::filesystem::path& file,
                                             Afterwards afterwards = Afterwards::keep);

  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  FileLock(int descriptor, std::filesystem::path doomed) : descriptor_(descriptor), doomed_(std::move(doomed)) {}

  int descriptor_;
  std::filesystem::path doomed_;  ///< the file, if it goes with the lock
};

}  // namespace piddm
