#pragma once
// Files to read: regular ones only, so that a pipe cannot hang the program and a device cannot fill its memory.
//
// A missing file, a folder or a device is a DataError; a failure of the system (no permission, I/O error) a
// ResourceError.

#include <cstdint>
#include <filesystem>
#include <string>

namespace piddm {

/// A regular file opened for reading at any offset.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const { return size_; }

  /// Exactly `bytes` bytes from `offset`; a DataError if the file ends before.
  void read(uint64_t offset, void* data, size_t bytes) const;

 private:
  std::filesystem::path path_;
  uint64_t size_ = 0;
  int fd_ = -1;
};

/// The whole file; a DataError if it is larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path, size_t max_bytes);

}  // namespace piddm
