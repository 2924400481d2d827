#include "piddm/core/config.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace piddm {

namespace {

json to_json(const toml::node& node, const std::string& origin) {
  if (const auto* table = node.as_table()) {
    json j = json::object();
    for (const auto& [key, value] : *table) j[std::string(key.str())] = to_json(value, origin);
    return j;
  }
  if (const auto* array = node.as_array()) {
    json j = json::array();
    for (const auto& value : *array) j.push_back(to_json(value, origin));
    return j;
  }
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  throw UsageError("{}:{}: dates and times are not used in configs", origin, node.source().begin.line);
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

bool is_file(const std::string& name) { return std::filesystem::path(name).extension() == ".toml"; }

json read_config_file(const std::string& name) {
  std::ifstream in(name);
  if (!in) throw DataError("{}: cannot open this config file", name);
  std::ostringstream text;
  text << in.rdbuf();
  return parse_toml(text.str(), name);
}

json read_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const auto* list : {&presets(), &preset_bases()})
    for (const auto& preset : *list) {
      if (preset.name == name) return parse_toml(preset.text, "preset " + name);
      names.push_back(preset.name);
    }
  throw UsageError("{} (a file must end in .toml)", unknown_name_message("preset", name, names));
}

json load_with_base(const std::string& name, std::vector<std::string> users) {
  require<UsageError>(std::find(users.begin(), users.end(), name) == users.end(), "{}: is its own base", name);
  json config = is_file(name) ? read_config_file(name) : read_preset(name);
  const auto key = config.find("base");
  if (key == config.end()) return config;
  require<UsageError>(key->is_string(), "{}: base must be the name of a preset or file, got {}", name, key->dump());
  auto base_name = key->get<std::string>();
  if (is_file(base_name)) base_name = (std::filesystem::path(name).parent_path() / base_name).string();
  config.erase("base");
  users.push_back(name);
  json base = load_with_base(base_name, users);
  merge_config(base, config);
  return base;
}

}  // namespace

json load_config(const std::string& name) { return load_with_base(name, {}); }

json parse_toml(const std::string& text, const std::string& origin) {
  try {
    return to_json(toml::parse(text, origin), origin);
  } catch (const toml::parse_error& error) {
    throw UsageError("{}:{}: {}", origin, error.source().begin.line, error.description());
  }
}

void apply_setting(json& config, const std::string& setting) {
  const auto equals = setting.find('=');
  const std::string key = setting.substr(0, equals);
  const bool empty_part = ("." + key + ".").find("..") != std::string::npos;
  if (equals == std::string::npos || empty_part)
    throw UsageError("--set {}: expected key=value, as in --set train.steps=500", setting);
  const std::string text = setting.substr(equals + 1);
  json value;
  try {
    value = parse_toml("value = " + text, "--set " + key).at("value");
  } catch (const UsageError&) {
    value = text;
  }
  json* node = &config;
  std::istringstream parts(key);
  for (std::string part; std::getline(parts, part, '.');) {
    if (!node->is_object() && !node->is_null())
      throw UsageError("--set {}: '{}' is below a plain value", setting, part);
    node = &(*node)[part];
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

std::string to_toml(const json& config) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // too little memory must not end in a shorter text
  out << to_toml_table(config) << '\n';
  return out.str();
}

}  // namespace piddm
