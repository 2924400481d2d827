#include "piddm/pde/pde_file.h"

#include <algorithm>
#include <filesystem>

#include "piddm/core/input_file.h"
#include "piddm/core/toml_text.h"
#include "piddm/pde/text/text_pde.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

bool is_registered(const std::string& name) {
  const auto names = pde_registry().names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Names, and the files of this folder that could be meant.
std::vector<std::string> possible_names() {
  auto names = pde_registry().names();
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(".", none))
    if (names_file(entry.path().filename().string())) names.push_back(entry.path().filename().string());
  return names;
}

/// What the equation is made of: without points, parameters' values, titles and units. Of x, y and t the stored times
/// are channels, so that their number stays.
json essence(json table) {
  for (const char* other : {"name", "title", "titles", "unit", "units", "parameters"}) table.erase(other);
  const auto grid = table.find("grid");
  if (grid == table.end() || !grid->is_object()) return table;
  const bool planar = grid->contains("y");
  for (auto& [axis, entries] : grid->items())
    if (entries.is_array() && entries.size() > 2 && !(planar && axis == "t")) entries.erase(2);
  return table;
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
  return text;
}

bool same_value(const json& a, const json& b) {
  if (a.is_string() && b.is_string()) return without_spaces(a) == without_spaces(b);
  if (a.is_number() && b.is_number()) return a.get<double>() == b.get<double>();
  if (a.is_array() && b.is_array()) return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_value);
  return a == b;
}

/// The first key whose values differ.
std::string first_difference(const json& ours, const json& theirs, const std::string& path) {
  if (ours.is_null()) return fmt::format("it has {} = {}", path, theirs.dump());
  if (theirs.is_null()) return fmt::format("it has no {} = {}", path, ours.dump());
  if (!ours.is_object() || !theirs.is_object())
    return same_value(ours, theirs) ? "" : fmt::format("{} is {}, not {}", path, theirs.dump(), ours.dump());
  json all = ours;
  all.update(theirs);
  for (const auto& [key, unused] : all.items()) {
    const auto inner = path.empty() ? key : path + "." + key;
    auto found = first_difference(ours.value(key, json()), theirs.value(key, json()), inner);
    if (!found.empty()) return found;
  }
  return "";
}

PdeOptions read_pde_file(const std::string& path) {
  const auto table = parse_toml(read_file(path, kMaxPdeFileBytes), path);
  require<UsageError>(is_pde_text(table),
                      "{}: no PDE: it has neither `equation` nor `equations` (`piddm pde new NAME` "
                      "writes a file to begin with)",
                      path);
  return options_of_text(table, path);
}

}  // namespace

bool names_file(const std::string& name) { return fs::path(name).extension() == ".toml"; }

bool is_pde_text(const json& table) {
  return table.is_object() && (table.contains("equation") || table.contains("equations"));
}

PdeOptions pde_named(const std::string& name) {
  if (names_file(name)) return read_pde_file(name);
  std::error_code none;
  require<UsageError>(is_registered(name) || !fs::is_regular_file(name, none),
                      "{}: the name of a PDE's file ends in .toml", name);
  if (!is_registered(name))
    throw UsageError("{} (a file must end in .toml)", unknown_name_message("PDE", name, possible_names()));
  PdeOptions options;
  options.name = name;
  return options;
}

json resolved_pde(json section) {
  if (!section.is_object()) return section;  // refused by whoever reads it
  const auto text_at = [&](const char* key) {
    const auto found = section.find(key);
    return found != section.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  json text;
  if (section.contains("file")) {
    const auto file = text_at("file");
    require<UsageError>(names_file(file), "pde.file: expected the name of a PDE's file, FILE.toml, got {}",
                        section.at("file").dump());
    section.erase("file");
    text = write_fields(read_pde_file(file));
  } else if (names_file(text_at("name"))) {
    text = write_fields(read_pde_file(text_at("name")));
    section.erase("name");
  } else if (const auto given = section.find("definition"); given != section.end()) {
    if (given->is_object() && given->empty()) return section;
    require<UsageError>(is_pde_text(*given), "pde.definition: expected the table of a PDE's file, got {}",
                        given->dump());
    text = write_fields(options_of_text(*given, "pde.definition"));
  }
  if (text.is_null()) return section;
  const auto name = text.at("name").get<std::string>();
  require<UsageError>(!section.contains("name") || section.at("name") == name,
                      "pde.name is {}, but the equation is that of \"{}\"; leave the name out",
                      section.value("name", json()).dump(), name);
  for (const auto& [key, value] : section.items())
    if (key != "definition") text[key] = value;
  return text;
}

void find_pde_beside(json& section, const std::string& config) {
  if (!section.is_object()) return;
  for (const char* key : {"file", "name"})
    if (const auto found = section.find(key);
        found != section.end() && found->is_string() && names_file(found->get<std::string>()))
      *found = (fs::path(config).parent_path() / found->get<std::string>()).lexically_normal().string();
}

std::string definition_difference(const std::string& name, const PdeDefinition& ours, const PdeDefinition& theirs) {
  if (ours.absent() && theirs.absent()) return "";
  if (ours.absent() || theirs.absent()) {
    if (!is_registered(name)) return "";  // stored without its definition
    return ours.absent() ? "it is defined by a text, not built in" : "it is built in, not defined by a text";
  }
  return first_difference(essence(ours.table), essence(theirs.table), "");
}

std::string pde_difference(const PdeOptions& ours, const PdeOptions& theirs) {
  if (ours.name != theirs.name) return fmt::format("it is {}, not {}", theirs.name, ours.name);
  return definition_difference(ours.name, ours.definition, theirs.definition);
}

}  // namespace piddm
