#include "piddm/core/toml_text.h"

#include <algorithm>
#include <sstream>

namespace {

/// toml++ takes for impossible what is not, a table's name that begins with a sign ("[$x]"): no reason to abort.
struct TomlAssertion {};

constexpr void toml_assert(bool condition) {
  if (!condition) throw TomlAssertion{};
}

}  // namespace

#undef NDEBUG  // with it toml++ lets the compiler assume what it asserts otherwise
#define TOML_ASSERT(condition) toml_assert(static_cast<bool>(condition))
#define TOML_EXCEPTIONS 1
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

namespace piddm {

namespace {

json to_json(const toml::node& node, const std::string& origin, size_t depth = 0) {
  const auto line = node.source().begin.line;
  require<UsageError>(depth <= kMaxTomlDepth, "{}:{}: tables nested deeper than {}", origin, line, kMaxTomlDepth);
  if (const auto* table = node.as_table()) {
    json j = json::object();
    for (const auto& [key, value] : *table) j[std::string(key.str())] = to_json(value, origin, depth + 1);
    return j;
  }
  if (const auto* array = node.as_array()) {
    json j = json::array();
    for (const auto& value : *array) j.push_back(to_json(value, origin, depth + 1));
    return j;
  }
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  throw UsageError("{}:{}: dates and times are not used in configs", origin, line);
}

void insert(toml::table& table, const std::string& key, const json& value);

toml::array to_toml_array(const json& values) {
  toml::array array;
  for (const auto& value : values) {
    if (value.is_boolean())
      array.push_back(value.get<bool>());
    else if (value.is_number_integer())
      array.push_back(value.get<int64_t>());
    else if (value.is_number())
      array.push_back(value.get<double>());
    else if (value.is_string())
      array.push_back(value.get<std::string>());
    else if (value.is_array())
      array.push_back(to_toml_array(value));
    else
      throw UsageError("a config list may not hold {}", value.dump());
  }
  return array;
}

toml::table to_toml_table(const json& object) {
  toml::table table;
  for (const auto& [key, value] : object.items()) insert(table, key, value);
  return table;
}

void insert(toml::table& table, const std::string& key, const json& value) {
  if (value.is_boolean())
    table.insert(key, value.get<bool>());
  else if (value.is_number_integer())
    table.insert(key, value.get<int64_t>());
  else if (value.is_number())
    table.insert(key, value.get<double>());
  else if (value.is_string())
    table.insert(key, value.get<std::string>());
  else if (value.is_array())
    table.insert(key, to_toml_array(value));
  else if (value.is_object())
    table.insert(key, to_toml_table(value));
  else
    throw UsageError("config key '{}' has no value", key);
}

size_t line_of(std::string_view text, size_t at) {
  return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// Behind the text in quotes that begins at `at`; behind its line where it does not end there.
size_t end_of_quotes(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool long_text = text.substr(at, 3) == three;
  for (at += long_text ? 3 : 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (long_text && text.substr(at, 3) == three) {
      return std::min(text.find_first_not_of(quote, at), text.size());
    } else if (!long_text && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    }
  }
  return text.size();
}

/// Every part of a dotted key is a table within a table, and tables are freed one within the other: too many parts are
/// the end of the stack. Counts the dots between the signs that end a key, outside of quotes and comments.
void check_key_parts(std::string_view text, const std::string& origin) {
  size_t dots = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_quotes(text, at);
      continue;
    }
    if (c == '#') at = std::min(text.find('\n', at), text.size() - 1);
    if (c == '.') ++dots;
    if (std::string_view("\n#=[]{},").find(c) != std::string_view::npos) dots = 0;
    require<UsageError>(dots < kMaxKeyParts, "{}:{}: a key of more than {} parts", origin, line_of(text, at),
                        kMaxKeyParts);
    ++at;
  }
}

bool is_assertion(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error&) {  // or: this part alone is no TOML
  } catch (const TomlAssertion&) {
    return true;
  }
  return false;
}

/// The first line that toml++ takes for impossible. It reads from the top: what holds for a beginning of the text holds
/// for every longer one.
size_t line_of_assertion(std::string_view text) {
  size_t good = 0, bad = text.size();
  while (bad - good > 1) {
    const size_t middle = good + (bad - good) / 2;
    (is_assertion(text.substr(0, middle)) ? bad : good) = middle;
  }
  return line_of(text, good);
}

}  // namespace

json parse_toml(const std::string& text, const std::string& origin) {
  require<UsageError>(text.size() <= kMaxTomlBytes, "{}: {} bytes, a config has at most {}", origin, text.size(),
                      kMaxTomlBytes);
  check_key_parts(text, origin);
  try {
    return to_json(toml::parse(text, origin), origin);
  } catch (const toml::parse_error& error) {
    throw UsageError("{}:{}: {}", origin, error.source().begin.line, error.description());
  } catch (const TomlAssertion&) {
    throw UsageError("{}:{}: a name may have letters, digits, '_' and '-' only, or stand in quotes", origin,
                     line_of_assertion(text));
  }
}

std::string to_toml(const json& config) {
  std::ostringstream out;
  out << to_toml_table(config) << '\n';
  return out.str();
}

}  // namespace piddm
