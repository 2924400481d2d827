#include "piddm/core/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "piddm/core/input_file.h"
#include "piddm/core/toml_text.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxBases = 8;

bool is_file(const std::string& name) { return fs::path(name).extension() == ".toml"; }

json read_config_file(const std::string& name) { return parse_toml(read_file(name, kMaxTomlBytes), name); }

json read_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const auto* list : {&presets(), &preset_bases()})
    for (const auto& preset : *list) {
      if (preset.name == name) return parse_toml(preset.text, "preset " + name);
      names.push_back(preset.name);
    }
  throw UsageError("{} (a file must end in .toml)", unknown_name_message("preset", name, names));
}

/// `users`: the configs that are built on this one, one on the other.
json load_with_base(const std::string& name, std::vector<std::string> users) {
  const bool again = std::find(users.begin(), users.end(), name) != users.end();
  users.push_back(name);
  require<UsageError>(!again && users.size() <= kMaxBases, "{}: {} ({}); remove one `base = ...`", name,
                      again ? "is its own base" : "too many configs on top of each other", fmt::join(users, " -> "));
  json config = is_file(name) ? read_config_file(name) : read_preset(name);
  const auto key = config.find("base");
  if (key == config.end()) return config;
  require<UsageError>(key->is_string(), "{}: base must be the name of a preset or file, got {}", name, key->dump());
  auto base_name = key->get<std::string>();
  if (is_file(base_name)) base_name = (fs::path(name).parent_path() / base_name).lexically_normal().string();
  config.erase("base");
  json base = load_with_base(base_name, users);
  merge_config(base, config);
  return base;
}

std::string shortened(const std::string& text) {
  constexpr size_t kShown = 80;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

/// Only UTF-8 can be stored or shown.
void check_text(const std::string& setting) {
  try {
    static_cast<void>(json(setting).dump());
  } catch (const json::exception&) {
    throw UsageError("--set {}: not UTF-8 text", shortened(setting));
  }
}

/// TOML, or a bare word as it stands.
json value_of(const std::string& text, const std::string& key) {
  try {
    const auto parsed = parse_toml("value = " + text, "--set " + key);
    if (parsed.size() == 1) return parsed.at("value");
  } catch (const UsageError&) {  // no TOML
  }
  return text;
}

}  // namespace

json load_config(const std::string& name) {
  return load_with_base(is_file(name) ? fs::path(name).lexically_normal().string() : name, {});
}

void apply_setting(json& config, const std::string& setting) {
  check_text(setting);
  const auto equals = setting.find('=');
  const std::string key = setting.substr(0, equals);
  const bool empty_part = ("." + key + ".").find("..") != std::string::npos;
  if (equals == std::string::npos || empty_part)
    throw UsageError("--set {}: expected key=value, as in --set train.steps=500", shortened(setting));
  const auto parts = static_cast<size_t>(std::count(key.begin(), key.end(), '.')) + 1;
  require<UsageError>(parts <= kMaxKeyParts, "--set {}: a key of {} parts, at most {} are possible", shortened(setting),
                      parts, kMaxKeyParts);
  const json value = value_of(setting.substr(equals + 1), shortened(key));
  json* node = &config;
  std::istringstream names(key);
  for (std::string name; std::getline(names, name, '.');) {
    if (!node->is_object() && !node->is_null())
      throw UsageError("--set {}: '{}' is below a plain value", shortened(setting), name);
    node = &(*node)[name];
  }
  *node = value;
}

void merge_config(json& base, const json& overlay) {
  if (!base.is_object() || !overlay.is_object()) {
    base = overlay;
    return;
  }
  for (const auto& [key, value] : overlay.items()) merge_config(base[key], value);
}

}  // namespace piddm
