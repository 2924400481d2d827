#pragma once
// ZIP archives as NPZ files use them: members stored or deflated, ZIP64, no encryption, one disk.
//
// Reading trusts nothing: the directory and the members fill the file without overlaps, names are relative, plain and
// unique, the archive expands to at most 200 times its own size (archives below 1 MiB expanded are exempt), sizes and
// CRC-32 of each member are checked.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "piddm/core/input_file.h"
#include "piddm/files/atomic_file.h"

namespace piddm {

/// Delivers the next `bytes` bytes of a stream, or throws a DataError.
using ReadBytes = std::function<void(void* data, size_t bytes)>;

struct ZipMember {
  std::string name;
  uint64_t bytes = 0;         ///< expanded
  uint64_t stored_bytes = 0;  ///< in the file
  uint64_t offset = 0;        ///< of the local header
  uint32_t crc = 0;
  bool deflated = false;
};

class ZipReader {
 public:
  explicit ZipReader(const std::filesystem::path& path);

  const std::vector<ZipMember>& members() const { return members_; }

  /// Calls `consume` with a stream of the member's bytes; afterwards what is left is read too and the CRC is checked.
  void read(const ZipMember& member, const std::function<void(const ReadBytes&)>& consume) const;

 private:
  void read_directory();
  void check_layout(uint64_t directory_begin) const;
  uint64_t data_begin(const ZipMember& member) const;

  InputFile file_;
  std::vector<ZipMember> members_;
};

/// Stored members with a fixed time stamp: the same content gives the same bytes.
class ZipWriter {
 public:
  /// Sizes and offsets from `zip64_limit` on are written in ZIP64 form.
  explicit ZipWriter(const std::filesystem::path& path, uint64_t zip64_limit = 0xFFFFFFFF);

  /// A member made of `head` followed by `body`.
  void add(const std::string& name, std::string_view head, std::string_view body = {});
  void commit();

 private:
  void write(std::string_view bytes);

  AtomicFile file_;
  uint64_t zip64_limit_;
  uint64_t at_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace piddm
