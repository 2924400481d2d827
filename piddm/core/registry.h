#pragma once
// A named list of factories. Registration is an explicit table in one .cpp, so nothing depends on the linker keeping
// static initialisers; a registry that is handed out as not const takes more from the program that uses it.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm {

template <class Signature>
class Registry {
 public:
  struct Entry {
    std::string name;
    std::string summary;  ///< one line for `piddm list`
    std::function<Signature> make;
  };

  /// `what` is the noun used in messages: "PDE", "method", ...
  Registry(std::string what, std::vector<Entry> entries) : what_(std::move(what)), entries_(std::move(entries)) {}

  /// A UsageError for a name that is taken.
  void add(Entry entry) {
    for (const auto& known : entries_)
      if (known.name == entry.name) throw UsageError("there is a {} called '{}' already", what_, entry.name);
    entries_.push_back(std::move(entry));
  }

  const std::vector<Entry>& entries() const { return entries_; }

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : entries_) out.push_back(entry.name);
    return out;
  }

  /// The factory called `name`; a UsageError with the nearest name otherwise.
  const std::function<Signature>& at(std::string_view name) const {
    for (const auto& entry : entries_)
      if (entry.name == name) return entry.make;
    throw UsageError("{}", unknown_name_message(what_, name, names()));
  }

 private:
  std::string what_;
  std::vector<Entry> entries_;
};

}  // namespace piddm
