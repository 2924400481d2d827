#include <zlib.h>

#include <algorithm>

#include "piddm/core/error.h"
#include "piddm/files/zip.h"

namespace piddm {

namespace {

constexpr uint16_t kTime = 0, kDate = 0x21;  // midnight of 1 January 1980, the first day of ZIP
constexpr uint16_t kUtf8Names = 1 << 11, kVersion = 20, kVersion64 = 45;

/// Appends the little-endian bytes of each value.
template <class... T>
void put(std::string& bytes, T... values) {
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof(T)), ...);
}

uint32_t low(uint64_t value, uint64_t limit) { return value >= limit ? 0xFFFFFFFF : static_cast<uint32_t>(value); }

uint32_t crc_of(std::string_view bytes, uint32_t crc) {
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, size_t{1} << 30);
    const auto* data = reinterpret_cast<const unsigned char*>(piece.data());
    crc = static_cast<uint32_t>(crc32(crc, data, static_cast<uInt>(piece.size())));
    bytes.remove_prefix(piece.size());
  }
  return crc;
}

uint16_t flags_of(const std::string& name) {
  return std::any_of(name.begin(), name.end(), [](char c) { return (c & 0x80) != 0; }) ? kUtf8Names : 0;
}

std::string local_header(const ZipMember& member, uint64_t limit) {
  const bool large = member.bytes >= limit;
  std::string bytes;
  put(bytes, uint32_t{0x04034b50}, large ? kVersion64 : kVersion, flags_of(member.name), uint16_t{0}, kTime, kDate,
      member.crc, low(member.bytes, limit), low(member.bytes, limit), static_cast<uint16_t>(member.name.size()),
      static_cast<uint16_t>(large ? 20 : 0));
  bytes += member.name;
  if (large) put(bytes, uint16_t{1}, uint16_t{16}, member.bytes, member.bytes);
  return bytes;
}

std::string directory_entry(const ZipMember& member, uint64_t limit) {
  std::string extra;
  if (member.bytes >= limit) put(extra, member.bytes, member.bytes);
  if (member.offset >= limit) put(extra, member.offset);
  const uint16_t version = extra.empty() ? kVersion : kVersion64;
  const auto extra_bytes = static_cast<uint16_t>(extra.size());
  std::string bytes;
  put(bytes, uint32_t{0x02014b50}, version, version, flags_of(member.name), uint16_t{0}, kTime, kDate, member.crc,
      low(member.bytes, limit), low(member.bytes, limit), static_cast<uint16_t>(member.name.size()),
      static_cast<uint16_t>(extra.empty() ? 0 : extra_bytes + 4), uint16_t{0}, uint16_t{0}, uint16_t{0}, uint32_t{0},
      low(member.offset, limit));
  bytes += member.name;
  if (!extra.empty()) put(bytes, uint16_t{1}, extra_bytes);
  return bytes + extra;
}

}  // namespace

ZipWriter::ZipWriter(const std::filesystem::path& path, uint64_t zip64_limit)
    : file_(path), zip64_limit_(zip64_limit) {}

void ZipWriter::write(std::string_view bytes) {
  file_.write(bytes);
  at_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::string_view head, std::string_view body) {
  require<DataError>(!name.empty() && name.size() <= 0xFFFF, "[zip] a member's name has {} bytes", name.size());
  const uint64_t size = head.size() + body.size();
  members_.push_back({name, size, size, at_, crc_of(body, crc_of(head, 0)), false});
  write(local_header(members_.back(), zip64_limit_));
  write(head);
  write(body);
}

void ZipWriter::commit() {
  const uint64_t begin = at_, count = members_.size();
  for (const auto& member : members_) write(directory_entry(member, zip64_limit_));
  const uint64_t size = at_ - begin, end = at_;
  std::string bytes;
  if (count >= 0xFFFF || begin >= zip64_limit_ || size >= zip64_limit_) {
    put(bytes, uint32_t{0x06064b50}, uint64_t{44}, kVersion64, kVersion64, uint32_t{0}, uint32_t{0}, count, count, size,
        begin);
    put(bytes, uint32_t{0x07064b50}, uint32_t{0}, end, uint32_t{1});
  }
  const auto short_count = static_cast<uint16_t>(std::min<uint64_t>(count, 0xFFFF));
  put(bytes, uint32_t{0x06054b50}, uint16_t{0}, uint16_t{0}, short_count, short_count, low(size, zip64_limit_),
      low(begin, zip64_limit_), uint16_t{0});
  write(bytes);
  file_.commit();
}

}  // namespace piddm
