#include "piddm/files/manifest.h"

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr size_t kDigits = 64, kNameAt = kDigits + 2;

}  // namespace

bool plain_name(std::string_view name) {
  return !name.empty() && name[0] != '.' && name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

std::map<std::string, std::string> parse_manifest(std::string_view text, const std::string& origin) {
  std::map<std::string, std::string> digests;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const auto line = text.substr(0, end);
    require<DataError>(end != std::string_view::npos && line.size() > kNameAt && line.substr(kDigits, 2) == "  ",
                       "{}: damaged line", origin);
    const std::string name(line.substr(kNameAt));
    require<DataError>(plain_name(name) && digests.emplace(name, line.substr(0, kDigits)).second,
                       "{}: bad or repeated name '{}'", origin, name);
    text.remove_prefix(end + 1);
  }
  return digests;
}

}  // namespace piddm
