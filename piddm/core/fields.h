#pragma once
// Options structs that can be read, written and documented. A struct lists its members once:
//
//   struct AdamOptions {
//     double lr = 1e-3;
//     template <class V> void fields(V&& f) { f("lr", lr, more_than(0), "peak learning rate"); }
//   };
//
// and from that one list come the strict reader with its bounds, the JSON writer and the help text. Numbers must be
// finite, with or without bounds. Members may be bool, integers, double, std::string, an enum with an `enum_names(E)`
// overload, a std::vector of those, raw json, a type that spells itself (`static T from_json(json, path)` and `json
// to_json() const`; with `bool absent() const` it is not written while that holds), or another struct with `fields`.
// Keys that a struct once had are listed in `static std::vector<FormerKey> former_keys()`. A struct whose keys depend
// on one of its members may have `json own_keys(json table, path, policy) const`, which takes out of a table what it
// accepts but does not use.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "piddm/core/error.h"

namespace piddm {

using json = nlohmann::ordered_json;

/// Where a number, or every number of a list, may lie.
struct Bound {
  double low, high;
  bool low_open = false, high_open = false;
  bool count = false;  ///< the upper end is there for slips of the pen only, and need not be said
};
constexpr double kNoBound = std::numeric_limits<double>::infinity();
constexpr Bound kAnyNumber = {-kNoBound, kNoBound};
constexpr Bound at_least(double low) { return {low, kNoBound}; }
constexpr Bound more_than(double low) { return {low, kNoBound, true}; }
constexpr Bound between(double low, double high) { return {low, high}; }
constexpr Bound from_to_below(double low, double high) { return {low, high, false, true}; }

/// Steps, samples or iterations: what is beyond the upper end is a slip of the pen.
constexpr Bound count_from(double low, double high = 1e9) { return {low, high, false, false, true}; }
constexpr Bound kSeeds = between(0, 9.2e18);  // whole numbers of TOML

/// A key that an options struct once had, "a.b" where it was in a nested table: `now` has its value today, or is empty
/// where there is nothing left to choose; `why` completes "KEY is gone: ...".
struct FormerKey {
  std::string key, now, why = "";
};

/// What a reader does with former keys: a config is refused with what to write instead, a stored one is read as it was
/// meant.
enum class FormerKeys { refuse, accept };

/// The candidate closest to `name` by edit distance, or "" when nothing is close.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "unknown key 'witdh' in model; did you mean 'width'?" (or the list of what there is).
std::string unknown_name_message(std::string_view what, std::string_view name, const std::vector<std::string>& known);

namespace detail {

struct AnyVisitor {
  template <class... Args>
  void operator()(Args&&...) const {}
};

template <class T>
concept HasFields = requires(T& t) {
  t.fields(AnyVisitor{});
};
template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T t) {
  enum_names(t);
};

template <class T>
concept SpellsItself = requires(const T& t, const json& j, const std::string& path) {
  { T::from_json(j, path) } -> std::same_as<T>;
  { t.to_json() } -> std::same_as<json>;
};

template <class T>
concept MayBeAbsent = requires(const T& t) {
  { t.absent() } -> std::same_as<bool>;
};

template <class T>
concept HasFormerKeys = requires {
  T::former_keys();
};

template <class T>
concept PicksItsKeys = requires(const T& t, json table, std::string path, FormerKeys policy) {
  t.own_keys(table, path, policy);
};

[[noreturn]] void throw_wrong_type(const std::string& path, const char* expected, const json& got);
std::string join_path(const std::string& path, const std::string& key);
void check_number(double value, const Bound& bound, const std::string& path);

/// `j` without former keys: UsageErrors, or moved to where their values belong.
json without_former_keys(json j, const std::vector<FormerKey>& former, const std::string& path, FormerKeys policy);

inline const char* meaning_of(const char* meaning) { return meaning; }
inline const char* meaning_of(const Bound&, const char* meaning) { return meaning; }

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

template <class T>
void check_bound(const T& value, const std::string& path, const Bound& bound, const char*) {
  if constexpr (std::is_arithmetic_v<T>) {
    check_number(static_cast<double>(value), bound, path);
  } else {
    for (const auto& entry : value) check_number(static_cast<double>(entry), bound, path);
  }
}
template <class T>
void check_bound(const T& value, const std::string& path, const char* meaning) {
  if constexpr (std::floating_point<T>)
    check_bound(value, path, kAnyNumber, meaning);
  else if constexpr (is_vector<T>::value)
    if constexpr (std::floating_point<typename T::value_type>) check_bound(value, path, kAnyNumber, meaning);
}

template <class T>
void read_value(const json& j, T& value, const std::string& path, FormerKeys policy = FormerKeys::refuse);

template <HasFields T>
void read_struct(const json& given, T& value, const std::string& path, FormerKeys policy) {
  if (!given.is_object()) throw_wrong_type(path, "a table", given);
  json j = given;
  if constexpr (HasFormerKeys<T>) j = without_former_keys(std::move(j), T::former_keys(), path, policy);
  if constexpr (PicksItsKeys<T>) j = value.own_keys(std::move(j), path, policy);
  std::vector<std::string> known;
  value.fields([&](const char* name, auto& member, const auto&... about) {
    known.emplace_back(name);
    const auto it = j.find(name);
    if (it == j.end()) return;
    read_value(*it, member, join_path(path, name), policy);
    check_bound(member, join_path(path, name), about...);
  });
  for (const auto& [key, unused] : j.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw UsageError("{}", unknown_name_message(path.empty() ? "key" : "key of [" + path + "]", key, known));
}

template <class T>
void read_value(const json& j, T& value, const std::string& path, FormerKeys policy) {
  if constexpr (HasFields<T>) {
    read_struct(j, value, path, policy);
  } else if constexpr (SpellsItself<T>) {
    value = T::from_json(j, path);
  } else if constexpr (std::same_as<T, json>) {
    value = j;  // read strictly by whoever it is for
  } else if constexpr (NamedEnum<T>) {
    const auto names = enum_names(value);
    if (!j.is_string()) throw_wrong_type(path, "a name", j);
    const auto it = std::find(names.begin(), names.end(), j.get<std::string>());
    if (it == names.end()) throw UsageError("{}: {}", path, unknown_name_message("value", j.get<std::string>(), names));
    value = static_cast<T>(it - names.begin());
  } else if constexpr (is_vector<T>::value) {
    if (!j.is_array()) throw_wrong_type(path, "a list", j);
    value.resize(j.size());
    for (size_t i = 0; i < j.size(); ++i) read_value(j[i], value[i], path + "[" + std::to_string(i) + "]", policy);
  } else if constexpr (std::same_as<T, bool>) {
    if (!j.is_boolean()) throw_wrong_type(path, "true or false", j);
    value = j.get<bool>();
  } else if constexpr (std::integral<T>) {
    if (!j.is_number_integer()) throw_wrong_type(path, "a whole number", j);
    if constexpr (std::unsigned_integral<T>)
      if (!j.is_number_unsigned() && j.get<int64_t>() < 0)
        throw UsageError("{}: must not be negative, got {}", path, j.dump());
    value = j.get<T>();
    if (json(value) != j) throw UsageError("{}: {} is too large", path, j.dump());
  } else if constexpr (std::floating_point<T>) {
    if (!j.is_number()) throw_wrong_type(path, "a number", j);
    value = j.get<T>();
  } else {
    if (!j.is_string()) throw_wrong_type(path, "a string", j);
    value = j.get<std::string>();
  }
}

template <class T>
json write_value(T& value) {
  if constexpr (HasFields<T>) {
    json j = json::object();
    value.fields([&](const char* name, auto& member, const auto&...) {
      if constexpr (MayBeAbsent<std::remove_reference_t<decltype(member)>>)
        if (member.absent()) return;
      j[name] = write_value(member);
    });
    return j;
  } else if constexpr (SpellsItself<T>) {
    return value.to_json();
  } else if constexpr (NamedEnum<T>) {
    return enum_names(value).at(static_cast<size_t>(value));
  } else if constexpr (is_vector<T>::value) {
    json j = json::array();
    for (auto& entry : value) j.push_back(write_value(entry));
    return j;
  } else {
    return value;
  }
}

}  // namespace detail

/// Fills `options` from `j`; keys that are absent keep their defaults. Unknown keys, wrong types and numbers out of
/// bounds are UsageErrors that name the key.
template <class T>
void read_fields(const json& j, T& options, const std::string& path = "", FormerKeys policy = FormerKeys::refuse) {
  detail::read_struct(j, options, path, policy);
}

/// A UsageError for the first member out of its bounds: for options that were set by a program.
template <class T>
void check_bounds(T options, const std::string& path = "") {
  options.fields([&](const char* name, auto& member, const auto&... about) {
    const auto key = detail::join_path(path, name);
    if constexpr (detail::HasFields<std::remove_reference_t<decltype(member)>>)
      check_bounds(member, key);
    else
      detail::check_bound(member, key, about...);
  });
}

/// Every member, nested structs as objects, in the order of declaration.
template <class T>
json write_fields(const T& options) {
  return detail::write_value(const_cast<T&>(options));  // `fields` is one non-const list; writing does not change it
}

/// One "key = default    # meaning" line per member, for --help and docs.
template <class T>
std::string describe_fields(T options = {}, const std::string& prefix = "") {
  std::string text;
  options.fields([&](const char* name, auto& member, const auto&... about) {
    const char* meaning = detail::meaning_of(about...);
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if constexpr (detail::MayBeAbsent<std::remove_reference_t<decltype(member)>>) {
      if (member.absent()) return;
    }
    if constexpr (detail::HasFields<std::remove_reference_t<decltype(member)>>) {
      text += fmt::format("\n# {}\n{}", meaning, describe_fields(member, key));
    } else {
      text += fmt::format("  {:<44} # {}\n", fmt::format("{} = {}", key, detail::write_value(member).dump()), meaning);
    }
  });
  return text;
}

}  // namespace piddm
