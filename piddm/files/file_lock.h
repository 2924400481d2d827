#pragma once
// A file that one process at a time holds, so that two runs in one folder keep out of each other's way.

#include <filesystem>
#include <optional>

namespace piddm {

/// Held until destruction or the end of the process, however it ends. The file is made if needed and stays.
class FileLock {
 public:
  /// Nothing while another holds it (also another FileLock of this process); a ResourceError if the file cannot be made
  /// or locked.
  static std::optional<FileLock> try_acquire(const std::filesystem::path& file);

  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace piddm
