#pragma once
// Reading JSON from files that may be damaged or hostile.

#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm {

/// What a JSON error says, without the library's own "[json.exception.type_error.302] " before it.
std::string reason_of(const json::exception& error);

struct JsonLimits {
  size_t depth = 32;                                    ///< nesting of objects and arrays
  size_t keys = 4096;                                   ///< of one object
  size_t entries = std::numeric_limits<size_t>::max();  ///< of one array
};

namespace detail {

/// Hears what is in a text (nlohmann's SAX interface) and throws a DataError at the first duplicate key, broken limit
/// or mistake, before memory is spent on values.
class JsonGuard {
 public:
  JsonGuard(std::string origin, JsonLimits limits) : origin_(std::move(origin)), limits_(limits) {}

  bool null() { return value(); }
  bool boolean(bool) { return value(); }
  bool number_integer(int64_t) { return value(); }
  bool number_unsigned(uint64_t) { return value(); }
  bool number_float(double, const std::string&) { return value(); }
  bool string(std::string&) { return value(); }
  bool binary(nlohmann::json::binary_t&) { return value(); }
  bool start_object(size_t) { return open(true); }
  bool start_array(size_t) { return open(false); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(const std::string& name);
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& error) const;

 private:
  bool open(bool object);
  bool close();
  bool value();

  struct Level {
    bool object;
    size_t entries = 0;
    std::set<std::string> keys;
  };
  std::string origin_;
  JsonLimits limits_;
  std::vector<Level> levels_;
};

}  // namespace detail

/// Strict JSON: a syntax error, a duplicate key or a broken limit is a DataError that begins with `origin`.
template <class Json = json>
Json parse_json(std::string_view text, const std::string& origin, JsonLimits limits = {}) {
  // Two passes: nlohmann's parser with a callback takes quadratic time in the entries of a list.
  detail::JsonGuard guard(origin, limits);
  Json::sax_parse(text, &guard);
  return Json::parse(text);
}

}  // namespace piddm
