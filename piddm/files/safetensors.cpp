#include "piddm/files/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/core/input_file.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/safetensors_header.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace {

using SortedJson = nlohmann::json;  // std::map inside: the header may have many keys

std::string dtype_name(const std::string& name, const Tensor& x) {
  require<DataError>(x.defined(), "[safetensors] tensor '{}' is undefined", name);
  require<DataError>(!x.is_complex(), "[safetensors] tensor '{}' is complex: store view_as_real of it", name);
  const auto type = number_type(x.scalar_type());
  require<DataError>(type.has_value(), "[safetensors] tensor '{}': type {} cannot be stored", name,
                     c10::toString(x.scalar_type()));
  return safetensors_name(*type);
}

enum class Padding { none, to_words };

std::string dump_header(const SortedJson& header, const std::filesystem::path& path, Padding padding) try {
  auto text = header.dump();
  if (padding == Padding::to_words) text.append((8 - text.size() % 8) % 8, ' ');
  require<DataError>(text.size() <= kMaxSafetensorsHeader, "[safetensors] {}: the header would exceed 16 MiB",
                     path.string());
  return text;
} catch (const SortedJson::exception&) {
  throw DataError("[safetensors] {}: a name or metadata text is not UTF-8", path.string());
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  const InputFile file(path);
  auto header = read_safetensors_header(file);
  Safetensors result{{}, std::move(header.metadata)};
  Sha256 hash;
  if (!header.digest.empty()) hash.update(header.digested);
  for (const auto& entry : header.entries) {
    auto x = torch::empty(entry.shape, scalar_type(entry.type));
    file.read(header.data_begin + entry.begin, x.data_ptr(), entry.end - entry.begin);
    if (!header.digest.empty()) hash.update(bytes_of(x));
    require<DataError>(entry.type != NumberType::boolean || valid_bools(x), "{}: a truth value is neither 0 nor 1",
                       safetensors_label(file, entry.name));
    result.tensors.emplace(entry.name, std::move(x));
  }
  require<DataError>(header.digest.empty() || header.digest == hash.hex(),
                     "[safetensors] {}: damaged (its SHA-256 differs from the one in its header): copy it again from "
                     "where it came, or make it again",
                     path.string());
  return result;
}

void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata, SafetensorsDigest digest) {
  require<DataError>(tensors.size() <= kMaxSafetensorsEntries, "[safetensors] {}: more than {} tensors", path.string(),
                     kMaxSafetensorsEntries);
  std::vector<std::pair<std::string, Tensor>> ordered(tensors.begin(), tensors.end());
  SortedJson header = SortedJson::object();
  for (const auto& [name, x] : ordered) {
    header[name]["dtype"] = dtype_name(name, x);
    require<DataError>(name != kSafetensorsMetadata && x.dim() <= static_cast<int64_t>(kMaxRank),
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
  if (!metadata.empty()) header[kSafetensorsMetadata] = metadata;
  if (digest == SafetensorsDigest::inside) {
    Sha256 hash;
    hash.update(dump_header(header, path, Padding::none));
    for (const auto& [name, x] : ordered) hash.update(bytes_of(packed(x)));
    header[kSafetensorsMetadata][kSafetensorsDigest] = hash.hex();
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
