#include "piddm/files/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "piddm/core/error.h"
#include "piddm/core/json_text.h"

namespace piddm {

namespace {

using SortedJson = nlohmann::json;  // std::map inside: the header may have many keys

constexpr std::pair<std::string_view, NumberType> kNames[] = {
    {"F64", NumberType::f64}, {"F32", NumberType::f32},     {"F16", NumberType::f16}, {"BF16", NumberType::bf16},
    {"I64", NumberType::i64}, {"I32", NumberType::i32},     {"I16", NumberType::i16}, {"I8", NumberType::i8},
    {"U8", NumberType::u8},   {"BOOL", NumberType::boolean}};

SortedJson read_json(const InputFile& file, uint64_t& data_begin) {
  const auto path = file.path().string();
  require<DataError>(file.size() >= 8, "[safetensors] {}: truncated ({} bytes)", path, file.size());
  uint64_t length = 0;
  file.read(0, &length, 8);
  require<DataError>(length <= kMaxSafetensorsHeader && length <= file.size() - 8 && length >= 2,
                     "[safetensors] {}: impossible header length {}", path, length);
  std::string text(length, '\0');
  file.read(8, text.data(), length);
  require<DataError>(text[0] == '{', "[safetensors] {}: the header does not start with '{{'", path);
  data_begin = 8 + length;
  const JsonLimits limits{.depth = 3, .keys = kMaxSafetensorsEntries + 1, .entries = kMaxRank};
  return parse_json<SortedJson>(text, "[safetensors] " + path, limits);
}

template <class T>
std::vector<T> whole_numbers(const SortedJson& list, const std::string& what) {
  require<DataError>(list.is_array(), "{} is not a list", what);
  std::vector<T> numbers;
  for (const auto& number : list) {
    require<DataError>(number.is_number_unsigned() && number.get<uint64_t>() <= uint64_t{INT64_MAX},
                       "{} has an entry that is not a size", what);
    numbers.push_back(number.get<T>());
  }
  return numbers;
}

SafetensorsEntry parse_entry(const std::string& name, const SortedJson& info, const std::string& label) {
  require<DataError>(info.is_object() && info.size() == 3 && info.contains("dtype") && info.contains("shape") &&
                         info.contains("data_offsets") && info["dtype"].is_string(),
                     "{}: needs exactly dtype, shape and data_offsets", label);
  const auto& dtype = info["dtype"].get_ref<const std::string&>();
  const auto known =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& pair) { return pair.first == dtype; });
  require<DataError>(known != std::end(kNames), "{}: type '{}' is not supported", label, dtype);
  const auto offsets = whole_numbers<uint64_t>(info["data_offsets"], label + ": data_offsets");
  require<DataError>(offsets.size() == 2 && offsets[0] <= offsets[1], "{}: bad data_offsets", label);
  SafetensorsEntry entry{name, known->second, whole_numbers<int64_t>(info["shape"], label + ": shape"), offsets[0],
                         offsets[1]};
  const auto bytes = checked_bytes(entry.shape, item_bytes(entry.type));
  require<DataError>(bytes && static_cast<uint64_t>(*bytes) == entry.end - entry.begin,
                     "{}: shape and type need {} bytes, data_offsets give {}", label,
                     bytes ? std::to_string(*bytes) : "too many", entry.end - entry.begin);
  return entry;
}

void check_layout(std::vector<SafetensorsEntry>& entries, uint64_t data_bytes, const InputFile& file) {
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t expected = 0;
  for (const auto& entry : entries) {
    require<DataError>(entry.begin == expected, "{}: {} before its data", safetensors_label(file, entry.name),
                       entry.begin < expected ? "overlap" : "hole");
    expected = entry.end;
  }
  require<DataError>(expected == data_bytes, "[safetensors] {}: the tensors have {} bytes, the file {}",
                     file.path().string(), expected, data_bytes);
}

std::map<std::string, std::string> parse_metadata(const SortedJson& header, const InputFile& file) {
  std::map<std::string, std::string> metadata;
  if (!header.contains(kSafetensorsMetadata)) return metadata;
  const auto& table = header[kSafetensorsMetadata];
  bool good = table.is_object();
  if (good)
    for (const auto& [key, value] : table.items()) good = good && value.is_string();
  require<DataError>(good, "[safetensors] {}: {} must hold strings only", file.path().string(), kSafetensorsMetadata);
  for (const auto& [key, value] : table.items()) metadata[key] = value.get<std::string>();
  return metadata;
}

}  // namespace

std::string safetensors_label(const InputFile& file, const std::string& name) {
  return fmt::format("[safetensors] {}: tensor '{}'", file.path().string(), name);
}

std::string safetensors_name(NumberType type) {
  const auto known =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& pair) { return pair.second == type; });
  return std::string(known->first);
}

SafetensorsHeader read_safetensors_header(const InputFile& file) {
  SafetensorsHeader header;
  auto table = read_json(file, header.data_begin);
  for (const auto& [name, info] : table.items())
    if (name != kSafetensorsMetadata) header.entries.push_back(parse_entry(name, info, safetensors_label(file, name)));
  require<DataError>(header.entries.size() <= kMaxSafetensorsEntries, "[safetensors] {}: more than {} tensors",
                     file.path().string(), kMaxSafetensorsEntries);
  check_layout(header.entries, file.size() - header.data_begin, file);
  header.metadata = parse_metadata(table, file);
  if (const auto found = header.metadata.extract(kSafetensorsDigest); !found.empty()) {
    header.digest = found.mapped();
    table[kSafetensorsMetadata].erase(kSafetensorsDigest);
    if (header.metadata.empty()) table.erase(kSafetensorsMetadata);
    header.digested = table.dump();
  }
  return header;
}

}  // namespace piddm
