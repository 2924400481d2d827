#pragma once
// Files that are either whole or not there. Writers work under a temporary name beside the final one
// (".name.PID-K.tmp"), fsync, and rename; a crash or a full disk at any instant leaves the old content under the final
// name. Readers never look at names that start with a dot.
//
// Failures of the system (no space, no permission, I/O error) are ResourceErrors that name the path.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace piddm {

/// One file, written piece by piece.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();  ///< removes the temporary if it was not committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// fsync, rename to the final name, fsync the folder.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int fd_ = -1;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// A folder filled under a temporary name and then put in place as a whole.
class AtomicFolder {
 public:
  explicit AtomicFolder(std::filesystem::path path);
  ~AtomicFolder();  ///< removes the temporary folder if it was not committed
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// Where to write until commit().
  const std::filesystem::path& path() const { return temporary_; }

  /// fsyncs everything inside and renames; a folder of the final name is swapped out (atomically where the file system
  /// can) and deleted.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
};

/// Deletes the temporaries that dead processes left in this folder; for the one process that owns the folder. Returns
/// how many.
int remove_stale_temporaries(const std::filesystem::path& folder);

}  // namespace piddm
