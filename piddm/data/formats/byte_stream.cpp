#include "piddm/data/formats/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "piddm/core/error.h"

namespace piddm {

struct ByteStream::Inflater {
  z_stream z{};
  bool ended = false;
  std::vector<unsigned char> input = std::vector<unsigned char>(16 << 10);
};

ByteStream::ByteStream(const InputFile& file, uint64_t begin, uint64_t bytes, bool inflated)
    : file_(file), next_(begin), end_(begin + bytes) {
  if (!inflated) return;
  inflater_ = std::make_unique<Inflater>();
  require<ResourceError>(inflateInit(&inflater_->z) == Z_OK, "zlib cannot start");
}

ByteStream::~ByteStream() {
  if (inflater_) inflateEnd(&inflater_->z);
}

void ByteStream::read(void* data, size_t bytes) {
  auto* out = static_cast<unsigned char*>(data);
  for (size_t done = 0; done < bytes;) {
    const size_t piece = std::min<size_t>(bytes - done, size_t{1} << 30);
    if (inflater_) {
      inflate_into(out + done, piece);
    } else {
      require<DataError>(piece <= end_ - next_, "{}: truncated near byte {}", file_.path().string(), next_);
      file_.read(next_, out + done, piece);
      next_ += piece;
    }
    done += piece;
  }
  position_ += bytes;
}

void ByteStream::skip(uint64_t bytes) {
  char waste[4096];
  for (; bytes > 0; bytes -= std::min<uint64_t>(bytes, sizeof(waste)))
    read(waste, std::min<uint64_t>(bytes, sizeof(waste)));
}

int ByteStream::step() {
  auto& z = inflater_->z;
  if (z.avail_in == 0 && next_ < end_) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(inflater_->input.size(), end_ - next_));
    file_.read(next_, inflater_->input.data(), bytes);
    next_ += bytes;
    z.next_in = inflater_->input.data();
    z.avail_in = static_cast<uInt>(bytes);
  }
  const int status = inflate(&z, Z_NO_FLUSH);
  inflater_->ended = inflater_->ended || status == Z_STREAM_END;
  return status;
}

void ByteStream::inflate_into(unsigned char* out, size_t bytes) {
  auto& z = inflater_->z;
  z.next_out = out;
  z.avail_out = static_cast<uInt>(bytes);
  while (z.avail_out > 0)
    if (const int status = step(); status != Z_OK && !(status == Z_STREAM_END && z.avail_out == 0))
      throw DataError("{}: damaged compressed data before byte {}", file_.path().string(), next_);
}

void ByteStream::check_end() {
  if (!inflater_) return;
  unsigned char more = 0;
  auto& z = inflater_->z;
  z.next_out = &more;
  z.avail_out = 1;
  int status = inflater_->ended ? Z_STREAM_END : Z_OK;
  while (status == Z_OK && z.avail_out == 1) status = step();
  require<DataError>(status == Z_STREAM_END && z.avail_out == 1, "{}: damaged end of compressed data before byte {}",
                     file_.path().string(), end_);
}

}  // namespace piddm
