#include "piddm/files/safetensors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/core/json_text.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace {

using SortedJson = nlohmann::json;  // std::map inside: the header may have many keys

constexpr uint64_t kMaxHeader = uint64_t{16} << 20;
constexpr size_t kMaxTensors = 65536;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kDigest = "piddm.sha256";

const std::vector<std::pair<std::string, torch::ScalarType>>& dtypes() {
  static const std::vector<std::pair<std::string, torch::ScalarType>> list = {
      {"F64", torch::kFloat64}, {"F32", torch::kFloat32}, {"F16", torch::kFloat16}, {"BF16", torch::kBFloat16},
      {"I64", torch::kInt64},   {"I32", torch::kInt32},   {"I16", torch::kInt16},   {"I8", torch::kInt8},
      {"U8", torch::kUInt8},    {"BOOL", torch::kBool}};
  return list;
}

struct Entry {
  std::string name;
  torch::ScalarType dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end;
};

/// "file: tensor 'name'", how every message about a tensor starts.
std::string label(const InputFile& file, const std::string& name) {
  return fmt::format("[safetensors] {}: tensor '{}'", file.path().string(), name);
}

SortedJson read_header(const InputFile& file, uint64_t& data_begin) {
  const auto path = file.path().string();
  require<DataError>(file.size() >= 8, "[safetensors] {}: truncated ({} bytes)", path, file.size());
  uint64_t length = 0;
  file.read(0, &length, 8);
  require<DataError>(length <= kMaxHeader && length <= file.size() - 8 && length >= 2,
                     "[safetensors] {}: impossible header length {}", path, length);
  std::string text(length, '\0');
  file.read(8, text.data(), length);
  require<DataError>(text[0] == '{', "[safetensors] {}: the header does not start with '{{'", path);
  data_begin = 8 + length;
  const JsonLimits limits{.depth = 3, .keys = kMaxTensors + 1, .entries = kMaxRank};
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

Entry parse_entry(const std::string& name, const SortedJson& info, const std::string& label) {
  require<DataError>(info.is_object() && info.size() == 3 && info.contains("dtype") && info.contains("shape") &&
                         info.contains("data_offsets") && info["dtype"].is_string(),
                     "{}: needs exactly dtype, shape and data_offsets", label);
  const auto& dtype = info["dtype"].get_ref<const std::string&>();
  const auto known = std::find_if(dtypes().begin(), dtypes().end(), [&](const auto& d) { return d.first == dtype; });
  require<DataError>(known != dtypes().end(), "{}: type '{}' is not supported", label, dtype);
  const auto offsets = whole_numbers<uint64_t>(info["data_offsets"], label + ": data_offsets");
  require<DataError>(offsets.size() == 2 && offsets[0] <= offsets[1], "{}: bad data_offsets", label);
  Entry entry{name, known->second, whole_numbers<int64_t>(info["shape"], label + ": shape"), offsets[0], offsets[1]};
  const auto bytes = checked_bytes(entry.shape, static_cast<int64_t>(c10::elementSize(entry.dtype)));
  require<DataError>(bytes && static_cast<uint64_t>(*bytes) == entry.end - entry.begin,
                     "{}: shape and type need {} bytes, data_offsets give {}", label,
                     bytes ? std::to_string(*bytes) : "too many", entry.end - entry.begin);
  return entry;
}

void check_layout(std::vector<Entry>& entries, uint64_t data_bytes, const InputFile& file) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  uint64_t expected = 0;
  for (const auto& entry : entries) {
    require<DataError>(entry.begin == expected, "{}: {} before its data", label(file, entry.name),
                       entry.begin < expected ? "overlap" : "hole");
    expected = entry.end;
  }
  require<DataError>(expected == data_bytes, "[safetensors] {}: the tensors have {} bytes, the file {}",
                     file.path().string(), expected, data_bytes);
}

std::map<std::string, std::string> parse_metadata(const SortedJson& header, const InputFile& file) {
  std::map<std::string, std::string> metadata;
  if (!header.contains(kMetadata)) return metadata;
  const auto& table = header[kMetadata];
  bool good = table.is_object();
  if (good)
    for (const auto& [key, value] : table.items()) good = good && value.is_string();
  require<DataError>(good, "[safetensors] {}: {} must hold strings only", file.path().string(), kMetadata);
  for (const auto& [key, value] : table.items()) metadata[key] = value.get<std::string>();
  return metadata;
}

std::string dtype_name(const std::string& name, const Tensor& x) {
  require<DataError>(x.defined(), "[safetensors] tensor '{}' is undefined", name);
  require<DataError>(!x.is_complex(), "[safetensors] tensor '{}' is complex: store view_as_real of it", name);
  for (const auto& [text, dtype] : dtypes())
    if (dtype == x.scalar_type()) return text;
  throw DataError("[safetensors] tensor '{}': type {} cannot be stored", name, c10::toString(x.scalar_type()));
}

enum class Padding { none, to_words };

std::string dump_header(const SortedJson& header, const std::filesystem::path& path, Padding padding) try {
  auto text = header.dump();
  if (padding == Padding::to_words) text.append((8 - text.size() % 8) % 8, ' ');
  require<DataError>(text.size() <= kMaxHeader, "[safetensors] {}: the header would exceed 16 MiB", path.string());
  return text;
} catch (const SortedJson::exception&) {
  throw DataError("[safetensors] {}: a name or metadata text is not UTF-8", path.string());
}

/// The digest that the header carries, taken out of it; "" where there is none.
std::string take_digest(SortedJson& header, std::map<std::string, std::string>& metadata) {
  const auto found = metadata.extract(kDigest);
  if (found.empty()) return "";
  header[kMetadata].erase(kDigest);
  if (metadata.empty()) header.erase(kMetadata);
  return found.mapped();
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  const InputFile file(path);
  uint64_t data_begin = 0;
  auto header = read_header(file, data_begin);
  std::vector<Entry> entries;
  for (const auto& [name, info] : header.items())
    if (name != kMetadata) entries.push_back(parse_entry(name, info, label(file, name)));
  require<DataError>(entries.size() <= kMaxTensors, "[safetensors] {}: more than {} tensors", path.string(),
                     kMaxTensors);
  check_layout(entries, file.size() - data_begin, file);
  Safetensors result{{}, parse_metadata(header, file)};
  const auto digest = take_digest(header, result.metadata);
  Sha256 hash;
  if (!digest.empty()) hash.update(header.dump());
  for (const auto& entry : entries) {
    auto x = torch::empty(entry.shape, entry.dtype);
    file.read(data_begin + entry.begin, x.data_ptr(), entry.end - entry.begin);
    if (!digest.empty()) hash.update(bytes_of(x));
    require<DataError>(entry.dtype != torch::kBool || valid_bools(x), "{}: a truth value is neither 0 nor 1",
                       label(file, entry.name));
    result.tensors.emplace(entry.name, std::move(x));
  }
  require<DataError>(digest.empty() || digest == hash.hex(),
                     "[safetensors] {}: damaged (its SHA-256 differs from the one in its header): copy it again from "
                     "where it came, or make it again",
                     path.string());
  return result;
}

void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata, SafetensorsDigest digest) {
  require<DataError>(tensors.size() <= kMaxTensors, "[safetensors] {}: more than {} tensors", path.string(),
                     kMaxTensors);
  std::vector<std::pair<std::string, Tensor>> ordered(tensors.begin(), tensors.end());
  SortedJson header = SortedJson::object();
  for (const auto& [name, x] : ordered) {
    header[name]["dtype"] = dtype_name(name, x);
    require<DataError>(name != kMetadata && x.dim() <= static_cast<int64_t>(kMaxRank),
                       "[safetensors] tensor '{}': reserved name or rank {} above {}", name, x.dim(), kMaxRank);
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.element_size() > b.second.element_size(); });
  uint64_t at = 0;
  for (const auto& [name, x] : ordered) {
    const uint64_t end = at + static_cast<uint64_t>(x.numel()) * x.element_size();
    header[name]["shape"] = x.sizes().vec();
    header[name]["data_offsets"] = {at, end};
    at = end;
  }
  if (!metadata.empty()) header[kMetadata] = metadata;
  if (digest == SafetensorsDigest::inside) {
    Sha256 hash;
    hash.update(dump_header(header, path, Padding::none));
    for (const auto& [name, x] : ordered) hash.update(bytes_of(packed(x)));
    header[kMetadata][kDigest] = hash.hex();
  }
  const auto text = dump_header(header, path, Padding::to_words);
  const uint64_t length = text.size();
  AtomicFile file(path);
  file.write(&length, 8);
  file.write(text);
  for (const auto& [name, x] : ordered) file.write(bytes_of(packed(x)));
  file.commit();
}

}  // namespace piddm
