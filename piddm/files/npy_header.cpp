#include "piddm/files/npy_header.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "piddm/core/error.h"
#include "piddm/files/zip.h"

namespace piddm {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxNpyHeader = 10000;
constexpr std::pair<std::string_view, NumberType> kNumpyTypes[] = {
    {"<f8", NumberType::f64}, {"<f4", NumberType::f32}, {"<f2", NumberType::f16},
    {"<i8", NumberType::i64}, {"<i4", NumberType::i32}, {"<i2", NumberType::i16},
    {"|i1", NumberType::i8},  {"|u1", NumberType::u8},  {"|b1", NumberType::boolean}};

/// The dict as it stands.
struct Dict {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

/// The Python dict literal of a header, and nothing more general than that.
class DictParser {
 public:
  DictParser(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  Dict parse() {
    Dict header;
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

  void read_item(Dict& header) {
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

NumberType type_of(const std::string& descr, const std::string& origin) {
  for (const auto& [name, type] : kNumpyTypes)
    if (name == descr) return type;
  const bool object = descr.find('O') != std::string::npos, big = !descr.empty() && descr[0] == '>';
  throw DataError("[npy] {}: type '{}' is not supported{}", origin, descr,
                  object ? " (pickled objects are never read)"
                  : big  ? " (big-endian)"
                         : "");
}

/// The header text of the `bytes` bytes long stream, and how many bytes of it come before the data.
std::pair<std::string, uint64_t> read_text(const ReadBytes& read, uint64_t bytes, const std::string& origin) {
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

}  // namespace

NpyHeader read_npy_header(const ReadBytes& read, uint64_t bytes, const std::string& origin) {
  const auto [text, data_begin] = read_text(read, bytes, origin);
  const auto dict = DictParser(text, origin).parse();
  NpyHeader header{type_of(*dict.descr, origin), *dict.shape, *dict.fortran_order, 0};
  const auto needed = checked_bytes(header.shape, item_bytes(header.type));
  require<DataError>(needed && static_cast<uint64_t>(*needed) == bytes - data_begin,
                     "[npy] {}: the shape needs {} bytes of data, there are {}", origin,
                     needed ? std::to_string(*needed) : "too many", bytes - data_begin);
  header.data_bytes = static_cast<size_t>(*needed);
  return header;
}

std::optional<std::string> npy_header_text(NumberType type, const std::vector<int64_t>& sizes) {
  std::string_view descr;
  for (const auto& [name, known] : kNumpyTypes)
    if (known == type) descr = name;
  if (descr.empty()) return std::nullopt;
  std::string shape;
  for (const int64_t size : sizes) shape += fmt::format("{}, ", size);
  if (sizes.size() > 1) shape.resize(shape.size() - 2);
  if (sizes.size() == 1) shape.pop_back();
  auto dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  dict.append((64 - (kMagic.size() + 4 + dict.size() + 1) % 64) % 64, ' ');
  dict += '\n';
  const auto length = static_cast<uint16_t>(dict.size());
  std::string header(kMagic);
  header += std::string_view("\x01\x00", 2);
  header.append(reinterpret_cast<const char*>(&length), 2);
  return header + dict;
}

}  // namespace piddm
