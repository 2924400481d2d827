#pragma once
// A range of a file read from front to back, as it is or inflated (zlib format).

#include <cstdint>
#include <memory>

#include "piddm/core/input_file.h"

namespace piddm {

/// What deflate can do at most; nothing honest exceeds it.
constexpr int64_t kMaxExpansion = 1032;

class ByteStream {
 public:
  /// The `bytes` bytes from `begin`, which lie inside the file. `file` must outlive the stream.
  ByteStream(const InputFile& file, uint64_t begin, uint64_t bytes, bool inflated);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// The next `bytes` bytes; a DataError if there are fewer or they are damaged.
  void read(void* data, size_t bytes);
  void skip(uint64_t bytes);

  /// Of an inflated stream: that it ends here and its checksum is right.
  void check_end();

  uint64_t position() const { return position_; }

 private:
  struct Inflater;
  void inflate_into(unsigned char* out, size_t bytes);
  int step();

  const InputFile& file_;
  uint64_t next_, end_, position_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace piddm
