#pragma once
// JSON documents of ours on disk: what they are, in which version, and a digest over all of it.
//
//   {"format": "piddm-model", "version": 2, ...content..., "sha256": "..."}
//
// The digest is the SHA-256 of the compact text of the document without it, so white space is free and everything else
// is not: a document that was damaged or edited by hand is refused. Documents of before version 2 have no digest, and
// most of them neither format nor version; they are read as they are.

#include <filesystem>
#include <string>

#include "piddm/core/json_text.h"

namespace piddm {

/// A kind of document.
struct JsonFormat {
  std::string name;                     ///< "piddm-model"
  int64_t version = 2;                  ///< that is written, and the newest that is read
  size_t max_bytes = size_t{64} << 20;  ///< of the file
  JsonLimits limits = {};
  std::string remedy = "copy the file again from where it came, or make it again";  ///< for a damaged one; may be empty
};

/// Atomic; `content` is an object without members "format", "version" and "sha256". The same content gives the same
/// bytes.
void write_json_file(const std::filesystem::path& path, const JsonFormat& format, const json& content);

/// The content without format, version and digest. A DataError for a document that is damaged, of another kind or of a
/// later version of the program.
json read_json_file(const std::filesystem::path& path, const JsonFormat& format);

/// The text of such a document, and the content of one; `origin` begins the messages.
std::string seal_json(const JsonFormat& format, const json& content);
json unseal_json(const std::string& text, const JsonFormat& format, const std::string& origin);

/// What nlohmann's exceptions say, without their numbers: "key 'reading' not found".
std::string plain_message(const nlohmann::json::exception& error);

/// use(content); what is missing in it or has another type is a DataError: "ORIGIN: not KIND: key 'rows' not found".
template <class F>
auto understood(const std::string& origin, const std::string& kind, F&& use) {
  try {
    return std::forward<F>(use)();
  } catch (const nlohmann::json::exception& error) {
    throw DataError("{}: not {}: {}", origin, kind, plain_message(error));
  }
}

}  // namespace piddm
