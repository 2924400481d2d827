#include "piddm/data/formats/mat5_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "piddm/core/error.h"
#include "piddm/data/formats/byte_stream.h"

namespace piddm {

namespace {

constexpr uint64_t kHeaderBytes = 128;
constexpr size_t kMaxVariables = 65536, kMaxName = 4096, kBlock = 1 << 16;
enum : uint32_t { kInt32 = 5, kUint32 = 6, kInt8 = 1, kMatrix = 14, kCompressed = 15 };

/// Numbers as stored: index is the type code of the format.
struct Stored {
  const char* name;
  size_t bytes;
};
constexpr Stored kStored[] = {{"", 0},      {"int8", 1},   {"uint8", 1},  {"int16", 2}, {"uint16", 2},
                              {"int32", 4}, {"uint32", 4}, {"single", 4}, {"", 0},      {"double", 8},
                              {"", 0},      {"", 0},       {"int64", 8},  {"uint64", 8}};

/// What an array class is read as; classes 6..15, the rest has a name only.
struct ArrayClass {
  const char* name;
  std::optional<NumberType> type;
};
constexpr ArrayClass kClasses[] = {{"unknown", {}},
                                   {"a cell array", {}},
                                   {"a struct", {}},
                                   {"an object", {}},
                                   {"text", {}},
                                   {"a sparse matrix", {}},
                                   {"double", NumberType::f64},
                                   {"single", NumberType::f32},
                                   {"int8", NumberType::i8},
                                   {"uint8", NumberType::u8},
                                   {"int16", NumberType::i16},
                                   {"uint16", NumberType::i32},
                                   {"int32", NumberType::i32},
                                   {"uint32", NumberType::i64},
                                   {"int64", NumberType::i64},
                                   {"uint64", NumberType::i64},
                                   {"a function", {}},
                                   {"an object", {}}};

struct Tag {
  uint32_t type, bytes;
  bool small;
  char data[4];  ///< of a small element
};

Tag read_tag(ByteStream& stream) {
  uint32_t words[2];
  stream.read(words, sizeof(words));
  Tag tag{words[0], words[1], false, {}};
  if ((words[0] >> 16) != 0) tag = {words[0] & 0xFFFF, words[0] >> 16, true, {}};
  std::memcpy(tag.data, words + 1, 4);
  return tag;
}

/// One variable's element, from its matrix tag up to the tag of its numbers.
class ElementReader {
 public:
  ElementReader(const InputFile& file, const Mat5Variable& variable)
      : origin_(fmt::format("[mat] {}: variable at byte {}", file.path().string(), variable.begin)),
        stored_bytes_(variable.stored_bytes),
        stream_(file, variable.begin, variable.stored_bytes, variable.compressed) {}

  void read_header(Mat5Variable& variable) {
    if (variable.compressed) {
      const auto tag = read_tag(stream_);
      check(tag.type == kMatrix && !tag.small, "no array inside the compressed element");
    }
    read_flags(variable);
    if (variable.refused == "an object" || variable.refused == "unknown") return;  // other layouts follow
    read_shape(variable);
    variable.name = read_element(kInt8, kMaxName, "name");
    if (!variable.refused.empty()) return;
    numbers_ = read_tag(stream_);
    check_numbers(variable);
  }

  /// All of the variable's numbers as `type` (that of the header), in the file's order.
  void read_numbers(NumberType type, void* out, int64_t count) {
    switch (type) {
      case NumberType::f64:
        convert(static_cast<double*>(out), count);
        break;
      case NumberType::f32:
        convert(static_cast<float*>(out), count);
        break;
      case NumberType::i64:
        convert(static_cast<int64_t*>(out), count);
        break;
      case NumberType::i32:
        convert(static_cast<int32_t*>(out), count);
        break;
      case NumberType::i16:
        convert(static_cast<int16_t*>(out), count);
        break;
      case NumberType::i8:
        convert(static_cast<int8_t*>(out), count);
        break;
      default:
        convert(static_cast<uint8_t*>(out), count);
    }
    skip_padding(numbers_);
    stream_.check_end();
  }

 private:
  void check(bool good, const std::string& why) const { require<DataError>(good, "{}: {}", origin_, why); }

  void skip_padding(const Tag& tag) {
    if (!tag.small) stream_.skip((8 - tag.bytes % 8) % 8);
  }

  /// The bytes of a short element with this type.
  std::string read_element(uint32_t type, size_t max_bytes, const char* what) {
    const auto tag = read_tag(stream_);
    check(tag.type == type && tag.bytes <= max_bytes && (!tag.small || tag.bytes <= 4), fmt::format("bad {}", what));
    if (tag.small) return std::string(tag.data, tag.bytes);
    std::string bytes(tag.bytes, '\0');
    stream_.read(bytes.data(), bytes.size());
    skip_padding(tag);
    return bytes;
  }

  void read_flags(Mat5Variable& variable) {
    const auto flags = read_element(kUint32, 8, "array flags");
    check(flags.size() == 8, "bad array flags");
    const auto kind = static_cast<uint8_t>(flags[0]), bits = static_cast<uint8_t>(flags[1]);
    const auto& info = kClasses[kind < std::size(kClasses) ? kind : 0];
    variable.refused = info.type ? "" : info.name;
    if (info.type && (bits & 8) != 0) variable.refused = "complex";
    variable.type = info.type.value_or(NumberType::f64);
    variable.logical = (bits & 2) != 0;
  }

  void read_shape(Mat5Variable& variable) {
    const auto bytes = read_element(kInt32, 4 * kMaxRank, "dimensions");
    check(bytes.size() % 4 == 0 && bytes.size() >= 8, "bad dimensions");
    variable.shape.clear();
    for (size_t at = 0; at < bytes.size(); at += 4) {
      int32_t size = 0;
      std::memcpy(&size, bytes.data() + at, 4);
      check(size >= 0, "a negative dimension");
      variable.shape.push_back(size);
    }
    check(checked_bytes(variable.shape, 1).has_value(), "impossible dimensions");
  }

  void check_numbers(const Mat5Variable& variable) const {
    const bool known = numbers_.type < std::size(kStored) && kStored[numbers_.type].bytes > 0;
    check(known, fmt::format("'{}': unknown number type {}", variable.name, numbers_.type));
    const auto needed = checked_bytes(variable.shape, static_cast<int64_t>(kStored[numbers_.type].bytes));
    check(needed && *needed == static_cast<int64_t>(numbers_.bytes) && (!numbers_.small || numbers_.bytes <= 4),
          fmt::format("'{}': the shape needs {} bytes of {}, there are {}", variable.name, needed.value_or(-1),
                      kStored[numbers_.type].name, numbers_.bytes));
    const uint64_t most = variable.compressed ? stored_bytes_ * kMaxExpansion + 64 : stored_bytes_;
    check(numbers_.small || stream_.position() + numbers_.bytes <= most,
          fmt::format("'{}': truncated, {} bytes of numbers in an element of {}", variable.name, numbers_.bytes,
                      stored_bytes_));
  }

  template <class To>
  void convert(To* out, int64_t count) {
    switch (numbers_.type) {
      case 1:
        return convert_from<int8_t>(out, count);
      case 2:
        return convert_from<uint8_t>(out, count);
      case 3:
        return convert_from<int16_t>(out, count);
      case 4:
        return convert_from<uint16_t>(out, count);
      case 5:
        return convert_from<int32_t>(out, count);
      case 6:
        return convert_from<uint32_t>(out, count);
      case 7:
        return convert_from<float>(out, count);
      case 9:
        return convert_from<double>(out, count);
      case 12:
        return convert_from<int64_t>(out, count);
      default:
        return convert_from<uint64_t>(out, count);
    }
  }

  template <class From, class To>
  void convert_from(To* out, int64_t count) {
    if (numbers_.small) {
      std::vector<From> values(static_cast<size_t>(count));
      std::memcpy(values.data(), numbers_.data, values.size() * sizeof(From));
      return copy(values.data(), count, out);
    }
    std::vector<From> block(kBlock);
    for (int64_t done = 0; done < count;) {
      const auto piece = std::min<int64_t>(count - done, kBlock);
      stream_.read(block.data(), static_cast<size_t>(piece) * sizeof(From));
      copy(block.data(), piece, out + done);
      done += piece;
    }
  }

  /// Converts, and refuses what the target type cannot hold.
  template <class From, class To>
  void copy(const From* values, int64_t count, To* out) const {
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<To>) {
        if constexpr (std::is_integral_v<From>) {
          if (!std::in_range<To>(values[i])) check(false, "a number does not fit its type");
        } else {
          check(false, "fractions in an array of integers");
        }
      }
      out[i] = static_cast<To>(values[i]);
    }
  }

  std::string origin_;
  uint64_t stored_bytes_;
  ByteStream stream_;
  Tag numbers_{};
};

void check_header(const InputFile& file) {
  const auto path = file.path().string();
  std::string start(std::min(file.size(), kHeaderBytes), '\0');
  file.read(0, start.data(), start.size());
  require<DataError>(start.size() == kHeaderBytes, "[mat] {}: truncated ({} bytes)", path, start.size());
  require<DataError>(start.substr(126) != "MI", "[mat] {}: big-endian files are not supported", path);
  require<DataError>(is_mat5_header(start), "[mat] {}: not a MAT-file of version 5", path);
}

/// Where the element at `at` is; its header is still to be read.
Mat5Variable find_element(const InputFile& file, uint64_t at) {
  const auto path = file.path().string();
  require<DataError>(file.size() - at >= 8, "[mat] {}: truncated at byte {}", path, at);
  uint32_t words[2];
  file.read(at, words, sizeof(words));
  require<DataError>(words[1] <= file.size() - at - 8, "[mat] {}: the element at byte {} has {} bytes, the file {}",
                     path, at, words[1], file.size());
  require<DataError>(words[0] == kMatrix || words[0] == kCompressed, "[mat] {}: unknown element {} at byte {}", path,
                     words[0], at);
  Mat5Variable variable;
  variable.begin = at + 8;
  variable.stored_bytes = words[1];
  variable.compressed = words[0] == kCompressed;
  return variable;
}

}  // namespace

bool is_mat5_header(std::string_view start) {
  return start.size() >= kHeaderBytes && start[124] == 0 && start[125] == 1 && start.substr(126, 2) == "IM";
}

std::vector<Mat5Variable> list_mat5(const InputFile& file) {
  check_header(file);
  std::vector<Mat5Variable> variables;
  for (uint64_t at = kHeaderBytes; at < file.size();) {
    auto variable = find_element(file, at);
    at = variable.begin + variable.stored_bytes;
    if (variable.stored_bytes == 0) continue;
    ElementReader(file, variable).read_header(variable);
    require<DataError>(variables.size() < kMaxVariables, "[mat] {}: too many variables", file.path().string());
    variables.push_back(std::move(variable));
  }
  return variables;
}

void read_mat5_numbers(const InputFile& file, const Mat5Variable& variable, void* out) {
  auto again = variable;
  ElementReader reader(file, variable);
  reader.read_header(again);
  require<DataError>(again.refused.empty() && again.shape == variable.shape && again.type == variable.type,
                     "[mat] {}: changed while it was read", file.path().string());
  reader.read_numbers(again.type, out, checked_bytes(again.shape, 1).value());
}

}  // namespace piddm
