#include "piddm/plot/animation.h"

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <string_view>

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);

struct Chunk {
  std::string type, data;
};

std::string big_endian(uint32_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
  return out;
}

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = (value << 8) | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

std::vector<Chunk> chunks_of(std::string_view png) {
  require<DataError>(png.substr(0, kSignature.size()) == kSignature, "[animation] a frame is not a PNG");
  std::vector<Chunk> chunks;
  size_t at = kSignature.size();
  while (at + 12 <= png.size()) {
    const size_t length = number_at(png, at);
    require<DataError>(length <= png.size() - at - 12, "[animation] a frame ends inside a chunk");
    chunks.push_back({std::string(png.substr(at + 4, 4)), std::string(png.substr(at + 8, length))});
    at += length + 12;
  }
  require<DataError>(!chunks.empty() && chunks.front().type == "IHDR" && chunks.front().data.size() == 13,
                     "[animation] a frame has no header");
  require<DataError>(chunks.back().type == "IEND", "[animation] a frame ends inside a chunk");
  return chunks;
}

std::string packed(const Chunk& chunk) {
  const auto body = chunk.type + chunk.data;
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(chunk.data.size()), 4) + body + big_endian(static_cast<uint32_t>(crc), 4);
}

/// Size of the header's picture, no offset, delay in milliseconds, nothing disposed, nothing blended.
Chunk frame_control(uint32_t sequence, const std::string& header, double seconds) {
  const auto milliseconds = static_cast<uint32_t>(std::lround(1000 * seconds));
  return {"fcTL", big_endian(sequence, 4) + header.substr(0, 8) + std::string(8, '\0') + big_endian(milliseconds, 2) +
                      big_endian(1000, 2) + std::string(2, '\0')};
}

}  // namespace

std::string animated_png(const std::vector<std::string>& frames, double seconds_per_frame) {
  require<UsageError>(!frames.empty(), "[animation] no frames");
  require<UsageError>(seconds_per_frame > 0 && seconds_per_frame <= 60, "[animation] {} seconds per frame",
                      seconds_per_frame);
  const auto header = chunks_of(frames.front()).front();
  std::string out = std::string(kSignature) + packed(header);
  out += packed({"acTL", big_endian(static_cast<uint32_t>(frames.size()), 4) + big_endian(0, 4)});
  uint32_t sequence = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    const auto chunks = chunks_of(frames[i]);
    require<UsageError>(chunks.front().data == header.data, "[animation] frame {} has another size than the first", i);
    out += packed(frame_control(sequence++, header.data, seconds_per_frame));
    for (const auto& chunk : chunks)
      if (chunk.type == "IDAT") out += packed(i == 0 ? chunk : Chunk{"fdAT", big_endian(sequence++, 4) + chunk.data});
  }
  return out + packed({"IEND", ""});
}

}  // namespace piddm
