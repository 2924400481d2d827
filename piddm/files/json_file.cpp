#include "piddm/files/json_file.h"

#include "piddm/core/input_file.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace {

constexpr const char* kFormat = "format";
constexpr const char* kVersion = "version";
constexpr const char* kDigest = "sha256";
constexpr int64_t kFirstWithDigest = 2;

/// Invalid UTF-8 cannot come out of a parser; of a program it is replaced, as it is in the file.
std::string compact(const json& document) { return document.dump(-1, ' ', false, json::error_handler_t::replace); }

/// 1 for documents from before they had a format.
int64_t version_of(const json& document, const JsonFormat& format, const std::string& origin) {
  const auto name = document.find(kFormat), found = document.find(kVersion);
  if (name == document.end()) return 1;
  require<DataError>(*name == format.name, "{}: its format is {}, not {}", origin, name->dump(), format.name);
  require<DataError>(found != document.end() && found->is_number_integer() && *found >= 1,
                     "{}: a document of format {} without a version", origin, format.name);
  require<DataError>(
      *found <= format.version,
      "{}: written by a later version of piddm ({} {}, this one reads up to {}): update piddm to read it", origin,
      format.name, found->dump(), format.version);
  return found->get<int64_t>();
}

}  // namespace

std::string seal_json(const JsonFormat& format, const json& content) {
  json document = {{kFormat, format.name}, {kVersion, format.version}};
  for (const auto& [key, value] : content.items()) document[key] = value;
  // what a number becomes in the file counts, not what it was: NaN is written as null
  document = json::parse(compact(document));
  document[kDigest] = sha256_hex(compact(document));
  return document.dump(2) + "\n";
}

json unseal_json(const std::string& text, const JsonFormat& format, const std::string& origin) {
  auto document = parse_json(text, origin, format.limits);
  require<DataError>(document.is_object(), "{}: not a JSON object", origin);
  const auto version = version_of(document, format, origin);
  const auto said = document.find(kDigest);
  if (said != document.end() || version >= kFirstWithDigest) {
    const json digest = said == document.end() ? json() : *said;
    document.erase(kDigest);
    require<DataError>(digest == sha256_hex(compact(document)),
                       "{}: damaged or edited by hand (its SHA-256 differs){}{}", origin,
                       format.remedy.empty() ? "" : ": ", format.remedy);
  }
  document.erase(kFormat);
  document.erase(kVersion);
  return document;
}

void write_json_file(const std::filesystem::path& path, const JsonFormat& format, const json& content) {
  write_file_atomically(path, seal_json(format, content));
}

json read_json_file(const std::filesystem::path& path, const JsonFormat& format) {
  return unseal_json(read_file(path, format.max_bytes), format, path.string());
}

std::string plain_message(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const auto end = text.starts_with("[json.exception") ? text.find("] ") : std::string::npos;
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace piddm
