#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "piddm/core/error.h"
#include "piddm/files/zip.h"

namespace piddm {

namespace {

constexpr uint64_t kMaxMembers = 65536, kMaxDirectory = uint64_t{16} << 20, kMaxRatio = 200, kAlwaysAllowed = 1 << 20;
constexpr size_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kEntryBytes = 46, kLocalBytes = 30;

template <class T>
T get(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::string read_text(const InputFile& file, uint64_t at, uint64_t bytes) {
  std::string text(bytes, '\0');
  file.read(at, text.data(), bytes);
  return text;
}

[[noreturn]] void refuse(const InputFile& file, const std::string& why) {
  throw DataError("[zip] {}: {}", file.path().string(), why);
}

struct Directory {
  uint64_t members, begin, bytes;
  uint64_t end;  ///< where the end records start: the directory must reach up to here
};

void read_zip64_end(const InputFile& file, uint64_t end, Directory& directory) {
  if (end < kLocatorBytes + kEnd64Bytes) refuse(file, "truncated ZIP64 end record");
  const auto locator = read_text(file, end - kLocatorBytes, kLocatorBytes);
  const auto at = get<uint64_t>(locator, 8);
  if (get<uint32_t>(locator, 0) != 0x07064b50 || at != end - kLocatorBytes - kEnd64Bytes)
    refuse(file, "bad ZIP64 locator");
  const auto record = read_text(file, at, kEnd64Bytes);
  if (get<uint32_t>(record, 0) != 0x06064b50 || get<uint64_t>(record, 24) != get<uint64_t>(record, 32))
    refuse(file, "bad ZIP64 end record");
  directory = {get<uint64_t>(record, 32), get<uint64_t>(record, 48), get<uint64_t>(record, 40), at};
}

Directory find_directory(const InputFile& file) {
  if (file.size() < kEndBytes) refuse(file, "truncated, no ZIP archive");
  const uint64_t tail_bytes = std::min<uint64_t>(file.size(), kEndBytes + 0xFFFF);
  const auto tail = read_text(file, file.size() - tail_bytes, tail_bytes);
  for (size_t back = kEndBytes; back <= tail.size(); ++back) {
    const size_t at = tail.size() - back;
    if (get<uint32_t>(tail, at) != 0x06054b50 || get<uint16_t>(tail, at + 20) != back - kEndBytes) continue;
    const auto members = get<uint16_t>(tail, at + 10);
    const auto bytes = get<uint32_t>(tail, at + 12), begin = get<uint32_t>(tail, at + 16);
    const uint64_t end = file.size() - back;
    Directory directory{members, begin, bytes, end};
    if (get<uint32_t>(tail, at + 4) != 0 || get<uint16_t>(tail, at + 8) != members)
      refuse(file, "archives of several parts are not supported");
    if (members == 0xFFFF || bytes == 0xFFFFFFFF || begin == 0xFFFFFFFF) read_zip64_end(file, end, directory);
    return directory;
  }
  refuse(file, "no ZIP archive, or its end is missing");
}

void check_name(const InputFile& file, const std::string& name) {
  bool good = !name.empty() && name.front() != '/' && name.back() != '/' &&
              name.find_first_of(std::string_view("\\:\0", 3)) == std::string::npos;
  for (const auto& part : std::filesystem::path(name)) good = good && part != ".." && part != ".";
  if (!good) refuse(file, "unsafe member name '" + name + "'");
}

/// The ZIP64 extra field: 8-byte values for those of size, stored size and offset that are all ones in the entry.
void read_zip64_extra(const InputFile& file, const std::string& extra, ZipMember& member) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    const size_t bytes = get<uint16_t>(extra, at + 2), end = at + 4 + bytes;
    if (end > extra.size()) refuse(file, "damaged extra field of '" + member.name + "'");
    if (get<uint16_t>(extra, at) == 1) {
      size_t next = at + 4;
      for (uint64_t* value : {&member.bytes, &member.stored_bytes, &member.offset}) {
        if (*value != 0xFFFFFFFF) continue;
        if (next + 8 > end) refuse(file, "short ZIP64 field of '" + member.name + "'");
        *value = get<uint64_t>(extra, next);
        next += 8;
      }
    }
    at = end;
  }
}

/// One entry of the directory at `at`, which moves on.
ZipMember read_entry(const InputFile& file, const std::string& directory, size_t& at) {
  if (at + kEntryBytes > directory.size() || get<uint32_t>(directory, at) != 0x02014b50)
    refuse(file, "damaged directory");
  const auto flags = get<uint16_t>(directory, at + 8), method = get<uint16_t>(directory, at + 10);
  const size_t name_bytes = get<uint16_t>(directory, at + 28), extra_bytes = get<uint16_t>(directory, at + 30);
  const size_t end = at + kEntryBytes + name_bytes + extra_bytes + get<uint16_t>(directory, at + 32);
  if (end > directory.size()) refuse(file, "damaged directory");
  ZipMember member{directory.substr(at + kEntryBytes, name_bytes),
                   get<uint32_t>(directory, at + 24),
                   get<uint32_t>(directory, at + 20),
                   get<uint32_t>(directory, at + 42),
                   get<uint32_t>(directory, at + 16),
                   method == 8};
  check_name(file, member.name);
  if ((flags & 1) != 0) refuse(file, "'" + member.name + "' is encrypted");
  if (method != 0 && method != 8)
    refuse(file, fmt::format("'{}': compression {} is not supported", member.name, method));
  read_zip64_extra(file, directory.substr(at + kEntryBytes + name_bytes, extra_bytes), member);
  if (!member.deflated && member.bytes != member.stored_bytes) refuse(file, "'" + member.name + "': sizes differ");
  at = end;
  return member;
}

/// The member's bytes in order, expanded, with their CRC.
class MemberStream {
 public:
  MemberStream(const InputFile& file, const ZipMember& member, uint64_t begin)
      : file_(file), member_(member), next_(begin), end_(begin + member.stored_bytes), left_(member.bytes) {
    if (member.deflated && inflateInit2(&inflater_, -MAX_WBITS) != Z_OK) throw ResourceError("zlib cannot start");
  }
  ~MemberStream() {
    if (member_.deflated) inflateEnd(&inflater_);
  }
  MemberStream(const MemberStream&) = delete;
  MemberStream& operator=(const MemberStream&) = delete;

  void read(void* data, size_t bytes) {
    if (bytes > left_) refuse(file_, "'" + member_.name + "' is shorter than its content says");
    auto* out = static_cast<unsigned char*>(data);
    for (size_t done = 0; done < bytes;) {
      const size_t piece = std::min<size_t>(bytes - done, size_t{1} << 30);
      if (member_.deflated) {
        expand(out + done, piece);
      } else {
        file_.read(next_, out + done, piece);
        next_ += piece;
      }
      crc_ = static_cast<uint32_t>(crc32(crc_, out + done, static_cast<uInt>(piece)));
      done += piece;
    }
    left_ -= bytes;
  }

  void finish() {
    std::vector<char> rest(64 << 10);
    while (left_ > 0) read(rest.data(), std::min<uint64_t>(rest.size(), left_));
    if (member_.deflated) check_end();
    if (crc_ != member_.crc) refuse(file_, "'" + member_.name + "': wrong CRC, the file is damaged");
  }

 private:
  void expand(unsigned char* out, size_t bytes) {
    inflater_.next_out = out;
    inflater_.avail_out = static_cast<uInt>(bytes);
    while (inflater_.avail_out > 0)
      if (const int status = step(); status != Z_OK && !(status == Z_STREAM_END && inflater_.avail_out == 0))
        refuse(file_, "'" + member_.name + "': damaged compressed data");
  }

  /// All input used, and the stream ends exactly here.
  void check_end() {
    unsigned char more = 0;
    inflater_.next_out = &more;
    inflater_.avail_out = 1;
    int status = ended_ ? Z_STREAM_END : Z_OK;
    while (status == Z_OK && inflater_.avail_out == 1) status = step();
    if (status != Z_STREAM_END || inflater_.avail_out != 1 || inflater_.avail_in != 0 || next_ != end_)
      refuse(file_, "'" + member_.name + "': damaged end of compressed data");
  }

  int step() {
    if (inflater_.avail_in == 0 && next_ < end_) {
      const auto bytes = static_cast<size_t>(std::min<uint64_t>(input_.size(), end_ - next_));
      file_.read(next_, input_.data(), bytes);
      next_ += bytes;
      inflater_.next_in = input_.data();
      inflater_.avail_in = static_cast<uInt>(bytes);
    }
    const int status = inflate(&inflater_, Z_NO_FLUSH);
    ended_ = status == Z_STREAM_END;
    return status;
  }

  const InputFile& file_;
  const ZipMember& member_;
  uint64_t next_, end_, left_;
  uint32_t crc_ = 0;
  bool ended_ = false;
  z_stream inflater_{};
  std::vector<unsigned char> input_ = std::vector<unsigned char>(64 << 10);
};

}  // namespace

ZipReader::ZipReader(const std::filesystem::path& path) : file_(path) { read_directory(); }

void ZipReader::read_directory() {
  const auto where = find_directory(file_);
  if (where.members > kMaxMembers || where.bytes > kMaxDirectory) refuse(file_, "too many members");
  if (where.begin > where.end || where.end - where.begin != where.bytes) refuse(file_, "the directory is misplaced");
  const auto directory = read_text(file_, where.begin, where.bytes);
  std::set<std::string> names;
  uint64_t total = 0;
  for (size_t at = 0; at < directory.size();) {
    members_.push_back(read_entry(file_, directory, at));
    const auto& member = members_.back();
    if (!names.insert(member.name).second) refuse(file_, "two members called '" + member.name + "'");
    if (__builtin_add_overflow(total, member.bytes, &total)) refuse(file_, "sizes overflow");
  }
  if (members_.size() != where.members) refuse(file_, "the directory has another number of members than it says");
  if (total > kAlwaysAllowed && total / kMaxRatio > file_.size())
    refuse(file_, fmt::format("expands to more than {} times its size", kMaxRatio));
  check_layout(where.begin);
}

void ZipReader::check_layout(uint64_t directory_begin) const {
  auto ordered = members_;
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  if (!ordered.empty() && ordered[0].offset != 0) refuse(file_, "something precedes the archive");
  for (size_t i = 0; i < ordered.size(); ++i) {
    const auto& member = ordered[i];
    const uint64_t limit = i + 1 < ordered.size() ? ordered[i + 1].offset : directory_begin;
    if (member.offset > limit || limit > directory_begin) refuse(file_, "'" + member.name + "' is misplaced");
    const uint64_t begin = data_begin(member);
    if (begin > limit || member.stored_bytes > limit - begin)
      refuse(file_, "'" + member.name + "' runs into what follows it");
  }
}

uint64_t ZipReader::data_begin(const ZipMember& member) const {
  const auto local = read_text(file_, member.offset, kLocalBytes);
  const size_t name_bytes = get<uint16_t>(local, 26);
  if (get<uint32_t>(local, 0) != 0x04034b50 || name_bytes != member.name.size() ||
      get<uint16_t>(local, 8) != (member.deflated ? 8 : 0) ||
      read_text(file_, member.offset + kLocalBytes, name_bytes) != member.name)
    refuse(file_, "the local header of '" + member.name + "' differs from the directory");
  return member.offset + kLocalBytes + name_bytes + get<uint16_t>(local, 28);
}

void ZipReader::read(const ZipMember& member, const std::function<void(const ReadBytes&)>& consume) const {
  MemberStream stream(file_, member, data_begin(member));
  consume([&](void* data, size_t bytes) { stream.read(data, bytes); });
  stream.finish();
}

}  // namespace piddm
