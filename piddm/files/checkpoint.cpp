#include "piddm/files/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "piddm/core/input_file.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"
#include "piddm/files/manifest.h"
#include "piddm/files/safetensors.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr const char* kManifest = "manifest.sha256";
constexpr const char* kState = "state.json";
constexpr std::string_view kPartSuffix = ".safetensors";
constexpr std::string_view kPrefix = "step-";
constexpr size_t kMaxText = size_t{64} << 20;

/// Version 1 had neither format nor digest of its own.
const JsonFormat& state_format() {
  static const JsonFormat format{
      .name = "piddm-checkpoint", .version = 2, .max_bytes = kMaxText, .limits = {.keys = 65536}};
  return format;
}

std::optional<int64_t> parse_step(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size() || step < 0) return std::nullopt;
  return std::to_string(step) == name ? std::optional(step) : std::nullopt;
}

void check_finite(const json& value, const std::string& where) {
  if (value.is_number_float())
    require<DataError>(std::isfinite(value.get<double>()), "[checkpoint] state {} is not finite", where);
  if (value.is_structured())
    for (const auto& [key, entry] : value.items()) check_finite(entry, fmt::format("{}/{}", where, key));
}

/// {file name: digest}.
std::map<std::string, std::string> read_manifest(const fs::path& path) {
  return parse_manifest(read_file(path, kMaxText), "[checkpoint] " + path.string());
}

std::set<std::string> files_of(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) names.insert(entry.path().filename().string());
  require<DataError>(!failed, "[checkpoint] cannot read {}: {}", folder.string(), failed.message());
  std::erase_if(names, [](const std::string& name) { return name[0] == '.'; });
  return names;
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path folder, int keep_last) : folder_(std::move(folder)), keep_last_(keep_last) {
  require<UsageError>(keep_last >= 0, "keep_last must not be negative, got {}", keep_last);
}

fs::path CheckpointStore::folder_of(int64_t step) const { return folder_ / fmt::format("{}{}", kPrefix, step); }

void CheckpointStore::save(const Checkpoint& checkpoint) {
  require<UsageError>(checkpoint.step >= 0, "[checkpoint] step {} is negative", checkpoint.step);
  check_finite(checkpoint.state, "");
  std::error_code failed;
  fs::create_directories(folder_, failed);
  require<ResourceError>(!failed, "cannot create {}: {}", folder_.string(), failed.message());
  AtomicFolder folder(folder_of(checkpoint.step));
  std::string manifest;
  const auto add = [&](const std::string& name) {
    manifest += fmt::format("{}  {}\n", sha256_file(folder.path() / name), name);
  };
  for (const auto& [part, tensors] : checkpoint.parts) {
    const auto name = part + std::string(kPartSuffix);
    require<UsageError>(plain_name(name), "[checkpoint] bad name of a part: '{}'", part);
    write_safetensors(folder.path() / name, tensors, {}, SafetensorsDigest::elsewhere);  // in the manifest
    add(name);
  }
  const json state = {{"step", checkpoint.step}, {"state", checkpoint.state}};
  write_json_file(folder.path() / kState, state_format(), state);
  add(kState);
  write_file_atomically(folder.path() / kManifest, manifest);
  folder.commit();
  write_file_atomically(folder_ / "latest", fmt::format("{}{}\n", kPrefix, checkpoint.step));
  prune(checkpoint.step);
}

void CheckpointStore::prune(int64_t newest) const {
  auto older = steps();
  std::erase_if(older, [&](int64_t step) { return step >= newest; });
  const auto keep = static_cast<size_t>(keep_last_);
  if (keep_last_ == 0 || older.size() < keep) return;
  older.resize(older.size() + 1 - keep);
  for (const int64_t step : older) remove_folder(folder_of(step));
}

std::vector<int64_t> CheckpointStore::steps() const {
  std::vector<int64_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    const auto step = parse_step(entry.path().filename().string());
    if (step && entry.is_directory(ignored)) found.push_back(*step);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<int64_t> CheckpointStore::latest() const {
  const auto known = steps();
  if (known.empty()) return std::nullopt;
  try {
    auto text = read_file(folder_ / "latest", 64);
    if (text.ends_with('\n')) text.pop_back();
    const auto step = parse_step(text);
    if (step && std::binary_search(known.begin(), known.end(), *step)) return step;
  } catch (const DataError&) {  // missing or absurd: the folders themselves tell
  }
  return known.back();
}

void CheckpointStore::verify(int64_t step) const {
  const auto folder = folder_of(step);
  auto names = files_of(folder);
  const auto hashes = read_manifest(folder / kManifest);
  names.erase(kManifest);
  for (const auto& [name, hash] : hashes) {
    require<DataError>(names.erase(name) == 1, "[checkpoint] {}: missing", (folder / name).string());
    require<DataError>(sha256_file(folder / name) == hash,
                       "[checkpoint] {}: damaged (its SHA-256 differs from the manifest)", (folder / name).string());
  }
  require<DataError>(hashes.count(kState) == 1, "[checkpoint] {}: does not list {}", (folder / kManifest).string(),
                     kState);
  require<DataError>(names.empty(), "[checkpoint] {}: not in the manifest",
                     names.empty() ? "" : (folder / *names.begin()).string());
}

std::optional<int64_t> CheckpointStore::intact_before(int64_t step) const {
  auto known = steps();
  std::reverse(known.begin(), known.end());
  for (const int64_t older : known) {
    if (older >= step) continue;
    try {
      verify(older);
      return older;
    } catch (const Error&) {  // damaged as well: look further back
    }
  }
  return std::nullopt;
}

Checkpoint CheckpointStore::load(int64_t step) const {
  const auto folder = folder_of(step);
  require<DataError>(fs::is_directory(folder), "[checkpoint] {}: no such checkpoint", folder.string());
  try {
    verify(step);
  } catch (const DataError& error) {
    const auto older = intact_before(step);
    if (!older) throw;
    throw DataError("{}; step {} is intact: remove {} to continue from there", error.what(), *older, folder.string());
  }
  const auto state_path = (folder / kState).string();
  const auto document = read_json_file(state_path, state_format());
  const bool matches = document.contains("state") && document.contains("step") &&
                       document["step"].is_number_integer() && document["step"].get<int64_t>() == step;
  require<DataError>(matches, "[checkpoint] {}: not the state of step {}", state_path, step);
  Checkpoint checkpoint{step, {}, document["state"]};
  for (const auto& name : files_of(folder))
    if (name.ends_with(kPartSuffix))
      checkpoint.parts[name.substr(0, name.size() - kPartSuffix.size())] = read_safetensors(folder / name).tensors;
  return checkpoint;
}

}  // namespace piddm
