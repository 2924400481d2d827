#pragma once
// Lists of digests, as sha256sum writes them: one "64 hex digits, two spaces, file name" a line.

#include <map>
#include <string>
#include <string_view>

namespace piddm {

/// Whether a file of a folder may be called so: not empty, not hidden, no slash.
bool plain_name(std::string_view name);

/// {file name: digest}; a damaged line, a name that is not plain or comes twice is a DataError that begins with
/// `origin`.
std::map<std::string, std::string> parse_manifest(std::string_view text, const std::string& origin);

}  // namespace piddm
