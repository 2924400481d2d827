#include "piddm/files/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/core/input_file.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/zip.h"

namespace piddm {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxNpyHeader = 10000;
constexpr uint64_t kMaxMemberText = uint64_t{16} << 20;
constexpr std::string_view kSuffix = ".npy";

const std::vector<std::pair<std::string, torch::ScalarType>>& numpy_types() {
  static const std::vector<std::pair<std::string, torch::ScalarType>> list = {
      {"<f8", torch::kFloat64}, {"<f4", torch::kFloat32}, {"<f2", torch::kFloat16},
      {"<i8", torch::kInt64},   {"<i4", torch::kInt32},   {"<i2", torch::kInt16},
      {"|i1", torch::kInt8},    {"|u1", torch::kUInt8},   {"|b1", torch::kBool}};
  return list;
}

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

/// The Python dict literal of a header, and nothing more general than that.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      read_item(header);
      if (accept('}')) break;
      expect(',');
    }
    skip_space();
    if (at_ != text_.size() || !header.descr || !header.fortran_order || !header.shape) fail();
    return header;
  }

 private:
  [[noreturn]] void fail() const { throw DataError("[npy] {}: malformed header near byte {}", origin_, at_); }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail();
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string read_string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail();
    const auto value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return std::string(value);
  }

  std::vector<int64_t> read_shape() {
    std::vector<int64_t> shape;
    expect('(');
    while (!accept(')')) {
      skip_space();
      int64_t size = -1;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0 || shape.size() >= kMaxRank) fail();
      at_ = static_cast<size_t>(end - text_.data());
      shape.push_back(size);
      if (accept(')')) break;
      expect(',');
    }
    return shape;
  }

  void read_item(Header& header) {
    const auto key = read_string();
    expect(':');
    if (key == "descr" && !header.descr) {
      skip_space();
      require<DataError>(at_ < text_.size() && text_[at_] != '[', "[npy] {}: records are not supported", origin_);
      header.descr = read_string();
    } else if (key == "fortran_order" && !header.fortran_order) {
      header.fortran_order = accept_word("True");
      if (!*header.fortran_order && !accept_word("False")) fail();
    } else if (key == "shape" && !header.shape) {
      header.shape = read_shape();
    } else {
      fail();
    }
  }

  std::string_view text_;
  const std::string& origin_;
  size_t at_ = 0;
};

torch::ScalarType dtype_of(const std::string& descr, const std::string& origin) {
  for (const auto& [name, dtype] : numpy_types())
    if (name == descr) return dtype;
  const bool object = descr.find('O') != std::string::npos, big = !descr.empty() && descr[0] == '>';
  throw DataError("[npy] {}: type '{}' is not supported{}", origin, descr,
                  object ? " (pickled objects are never read)"
                  : big  ? " (big-endian)"
                         : "");
}

/// The header text of the `bytes` bytes long stream, and how many bytes of it come before the data.
std::pair<std::string, uint64_t> read_header(const ReadBytes& read, uint64_t bytes, const std::string& origin) {
  char start[8] = {};
  require<DataError>(bytes >= 10, "[npy] {}: truncated ({} bytes)", origin, bytes);
  read(start, sizeof(start));
  require<DataError>(std::string_view(start, 6) == kMagic, "[npy] {}: not an NPY file", origin);
  const int major = static_cast<unsigned char>(start[6]), minor = static_cast<unsigned char>(start[7]);
  require<DataError>(major >= 1 && major <= 3 && minor == 0, "[npy] {}: unknown version {}.{}", origin, major, minor);
  const size_t length_bytes = major == 1 ? 2 : 4;
  require<DataError>(bytes >= 8 + length_bytes, "[npy] {}: truncated ({} bytes)", origin, bytes);
  uint32_t length = 0;
  read(&length, length_bytes);
  const uint64_t data_begin = 8 + length_bytes + length;
  require<DataError>(length <= kMaxNpyHeader && data_begin <= bytes, "[npy] {}: impossible header length {}", origin,
                     length);
  std::string text(length, '\0');
  read(text.data(), length);
  return {std::move(text), data_begin};
}

Tensor parse_npy(const ReadBytes& read, uint64_t bytes, const std::string& origin) {
  const auto [text, data_begin] = read_header(read, bytes, origin);
  const auto header = HeaderParser(text, origin).parse();
  const auto dtype = dtype_of(*header.descr, origin);
  auto shape = *header.shape;
  const auto needed = checked_bytes(shape, static_cast<int64_t>(c10::elementSize(dtype)));
  require<DataError>(needed && static_cast<uint64_t>(*needed) == bytes - data_begin,
                     "[npy] {}: the shape needs {} bytes of data, there are {}", origin,
                     needed ? std::to_string(*needed) : "too many", bytes - data_begin);
  if (*header.fortran_order) std::reverse(shape.begin(), shape.end());
  auto x = torch::empty(shape, dtype);
  read(x.data_ptr(), static_cast<size_t>(*needed));
  require<DataError>(dtype != torch::kBool || valid_bools(x), "[npy] {}: a truth value is neither 0 nor 1", origin);
  if (!*header.fortran_order) return x;
  std::vector<int64_t> axes(shape.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(axes.size() - 1 - i);
  return x.permute(axes).contiguous();
}

std::string make_header(const Tensor& x, const std::string& origin) {
  require<DataError>(x.defined() && x.dim() <= static_cast<int64_t>(kMaxRank), "[npy] {}: undefined, or rank above {}",
                     origin, kMaxRank);
  std::string descr;
  for (const auto& [name, dtype] : numpy_types())
    if (dtype == x.scalar_type()) descr = name;
  require<DataError>(!descr.empty(), "[npy] {}: type {} cannot be stored", origin, c10::toString(x.scalar_type()));
  std::string shape;
  for (const int64_t size : x.sizes()) shape += fmt::format("{}, ", size);
  if (x.dim() > 1) shape.resize(shape.size() - 2);
  if (x.dim() == 1) shape.pop_back();
  auto dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  dict.append((64 - (kMagic.size() + 4 + dict.size() + 1) % 64) % 64, ' ');
  dict += '\n';
  const auto length = static_cast<uint16_t>(dict.size());
  std::string header(kMagic);
  header += std::string_view("\x01\x00", 2);
  header.append(reinterpret_cast<const char*>(&length), 2);
  return header + dict;
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  const InputFile file(path);
  uint64_t at = 0;
  const auto read = [&](void* data, size_t bytes) {
    file.read(at, data, bytes);
    at += bytes;
  };
  return parse_npy(read, file.size(), path.string());
}

void write_npy(const std::filesystem::path& path, const Tensor& x) {
  const auto header = make_header(x, path.string());
  AtomicFile file(path);
  file.write(header);
  file.write(bytes_of(packed(x)));
  file.commit();
}

Npz read_npz(const std::filesystem::path& path) {
  const ZipReader zip(path);
  Npz npz;
  for (const auto& member : zip.members()) {
    const auto origin = fmt::format("{}: {}", path.string(), member.name);
    if (member.name.ends_with(kSuffix)) {
      auto& x = npz.arrays[member.name.substr(0, member.name.size() - kSuffix.size())];
      zip.read(member, [&](const ReadBytes& read) { x = parse_npy(read, member.bytes, origin); });
    } else {
      require<DataError>(member.bytes <= kMaxMemberText, "[npz] {}: a text of {} bytes is too long", origin,
                         member.bytes);
      std::string text(member.bytes, '\0');
      zip.read(member, [&](const ReadBytes& read) { read(text.data(), text.size()); });
      npz.texts.emplace(member.name, std::move(text));
    }
  }
  return npz;
}

void write_npz(const std::filesystem::path& path, const Npz& npz) {
  ZipWriter zip(path);
  for (const auto& [name, x] : npz.arrays) {
    const auto header = make_header(x, fmt::format("{}: {}", path.string(), name));
    zip.add(name + std::string(kSuffix), header, bytes_of(packed(x)));
  }
  for (const auto& [name, text] : npz.texts) {
    require<DataError>(!name.ends_with(kSuffix) && text.size() <= kMaxMemberText,
                       "[npz] {}: a text called '{}' of {} bytes", path.string(), name, text.size());
    zip.add(name, text);
  }
  zip.commit();
}

}  // namespace piddm
