#pragma once
// Files that are either whole or not there. Writers work under a temporary name beside the final one (".name.K.tmp"),
// fsync, and rename; a crash or a full disk at any instant leaves the old content under the final name. Readers never
// look at names that start with a dot.
//
// A writer holds a lock (flock) on its temporary, which ends with the process however that ends: a temporary that can
// be locked is abandoned, and the next writer of the name removes it. No process numbers are compared, which are used
// again and mean nothing to other machines and containers. On a file system without locks (some network ones)
// temporaries of crashed processes stay.
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

  /// fsyncs everything inside and renames; a folder of the final name is exchanged for it and deleted. Where the file
  /// system cannot exchange, the old one is called ".name.K.old" for a moment: see recover_folder.
  void commit();

 private:
  std::filesystem::path replace() const;

  std::filesystem::path path_, temporary_;
  int lock_ = -1;
};

/// Puts back the folder that a process was replacing when it died between two renames. Whoever looks for a folder that
/// an AtomicFolder wrote calls it first; it does nothing where the folder is there.
void recover_folder(const std::filesystem::path& path);

/// Deletes what dead processes left of this file or folder, and recovers it. Done by AtomicFile and AtomicFolder
/// themselves. Other processes may be writing there. Returns how many.
int remove_stale_temporaries_of(const std::filesystem::path& path);

/// The same for everything in a folder (not below it).
int remove_stale_temporaries(const std::filesystem::path& folder);

/// Under a temporary name first, so that a crash while deleting leaves no half of it; without effect where that is not
/// possible.
void remove_folder(const std::filesystem::path& path);

}  // namespace piddm
