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

/// Watches a parse go by and throws a DataError at the first duplicate key or broken limit, before memory is spent on
/// it.
class JsonGuard {
 public:
  JsonGuard(std::string origin, JsonLimits limits) : origin_(std::move(origin)), limits_(limits) {}
  void open(bool object);
  void close() { levels_.pop_back(); }
  void key(const std::string& name);
  void value();

 private:
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
  detail::JsonGuard guard(origin, limits);
  using Event = typename Json::parse_event_t;
  const auto watch = [&](int, Event event, Json& parsed) {
    if (event == Event::object_start || event == Event::array_start) guard.open(event == Event::object_start);
    if (event == Event::object_end || event == Event::array_end) guard.close();
    if (event == Event::key) guard.key(parsed.template get_ref<const std::string&>());
    if (event == Event::value) guard.value();
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const nlohmann::json::parse_error& error) {
    throw DataError("{}: not valid JSON (byte {})", origin, error.byte);
  } catch (const nlohmann::json::exception&) {
    throw DataError("{}: not valid JSON (a number out of range)", origin);
  }
}

}  // namespace piddm
