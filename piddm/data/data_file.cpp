#include "piddm/data/data_file.h"

#include "piddm/core/input_file.h"
#include "piddm/core/json_text.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/npy.h"
#include "piddm/files/safetensors.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace {

constexpr const char* kDescriptionMember = "description.json";
constexpr const char* kDescriptionKey = "description";
constexpr size_t kDigestLength = 64, kMaxDigestFile = 8192;

enum class Format { npz, safetensors };

Format format_of(const std::filesystem::path& path) {
  if (path.extension() == ".npz") return Format::npz;
  if (path.extension() == ".safetensors") return Format::safetensors;
  throw UsageError("{}: data files end in .npz or .safetensors, the index of a set in shards in .json", path.string());
}

template <class Texts>
json find_description(const Texts& texts, const char* key, const std::string& origin) {
  const auto text = texts.find(key);
  if (text == texts.end()) return nullptr;
  auto description = parse_json(text->second, origin + ": description");
  require<DataError>(description.is_object(), "{}: the description is not an object", origin);
  return description;
}

}  // namespace

void check_data_file_name(const std::filesystem::path& path) { format_of(path); }

DataFile read_arrays(const std::filesystem::path& path) {
  if (format_of(path) == Format::npz) {
    auto npz = read_npz(path);
    return {std::move(npz.arrays), find_description(npz.texts, kDescriptionMember, path.string())};
  }
  auto file = read_safetensors(path);
  return {std::move(file.tensors), find_description(file.metadata, kDescriptionKey, path.string())};
}

DataFile read_data_file(const std::filesystem::path& path) {
  auto file = read_arrays(path);
  require<DataError>(!file.description.is_null(), "{}: no {}, so not a data set; use `piddm data import`",
                     path.string(), format_of(path) == Format::npz ? kDescriptionMember : kDescriptionKey);
  return file;
}

void write_data_file(const std::filesystem::path& path, const DataFile& file) {
  std::filesystem::remove(digest_path(path));
  if (format_of(path) == Format::npz) {
    write_npz(path, {file.arrays, {{kDescriptionMember, file.description.dump(1) + "\n"}}});
  } else {
    write_safetensors(path, file.arrays, {{kDescriptionKey, file.description.dump()}});
  }
}

std::filesystem::path digest_path(const std::filesystem::path& path) { return path.string() + ".sha256"; }

std::string write_digest(const std::filesystem::path& path) {
  auto digest = sha256_file(path);
  write_file_atomically(digest_path(path), digest + "  " + path.filename().string() + "\n");
  return digest;
}

std::string read_digest(const std::filesystem::path& path) {
  if (!std::filesystem::exists(digest_path(path))) return "";
  return read_file(digest_path(path), kMaxDigestFile).substr(0, kDigestLength);
}

void check_digest(const std::filesystem::path& path) {
  for (auto kept = read_digest(path); !kept.empty();) {
    if (sha256_file(path) == kept) return;
    const auto now = read_digest(path);  // another one: the file was being replaced
    require<DataError>(
        now != kept,
        "{0}: damaged (its SHA-256 is not the one in {1}): copy or make the file again; if you changed it "
        "on purpose, remove {1}",
        path.string(), digest_path(path).string());
    kept = now;
  }
}

}  // namespace piddm
