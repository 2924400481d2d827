// Targets that take a text.

#include <algorithm>
#include <cstdlib>

#include "piddm/core/config.h"
#include "piddm/core/console.h"
#include "piddm/core/json_text.h"
#include "piddm/core/toml_text.h"
#include "piddm/data/formats/channel_map.h"
#include "piddm/files/manifest.h"
#include "piddm/solve/task/sensor_text.h"
#include "tests/fuzz/targets.h"

namespace piddm::fuzz {

namespace {

/// A promise beyond "no crash"; its breach is a finding.
void demand(bool kept) {
  if (!kept) std::abort();
}

enum class Colour { red, green };
std::vector<std::string> enum_names(Colour) { return {"red", "green"}; }

/// One member of every kind that options have.
struct Inner {
  std::vector<int64_t> sizes = {1};
  std::vector<std::string> names;
  Colour colour = Colour::red;
  template <class V>
  void fields(V&& f) {
    f("sizes", sizes, at_least(1), "a list with bounds");
    f("names", names, "a list of texts");
    f("colour", colour, "one of several");
  }
};

struct Options {
  bool flag = false;
  int64_t steps = 10;
  uint64_t seed = 0;
  double rate = 1e-3;
  std::string name;
  json raw;
  Inner inner;
  static std::vector<FormerKey> former_keys() { return {{"old", "name"}, {"inner.gone", "", "no longer used"}}; }
  template <class V>
  void fields(V&& f) {
    f("flag", flag, "a truth value");
    f("steps", steps, between(0, 1e6), "with two bounds");
    f("seed", seed, "without a sign");
    f("rate", rate, more_than(0), "an open bound");
    f("name", name, "a text");
    f("raw", raw, "anything");
    f("inner", inner, "a table");
  }
};

void read_options(const json& config) {
  for (const auto policy : {FormerKeys::accept, FormerKeys::refuse}) {
    Options options;
    read_fields(config, options, "", policy);
    write_fields(options).dump();
  }
}

}  // namespace

void toml(std::string_view input) {
  const auto config = parse_toml(std::string(input), "f.toml");
  const auto again = to_toml(config);
  demand(parse_toml(again, "f.toml").dump() == config.dump());
  read_options(config);
}

void set(std::string_view input) {
  constexpr int kMostSettings = 40;  // hundreds of lines, each refused by an exception, take time and show nothing new
  json config = {{"train", {{"steps", 10}}}, {"pde", {{"name", "darcy"}}}};
  for (int i = 0; i < kMostSettings && !input.empty(); ++i) {
    const auto end = input.find('\n');
    apply_setting(config, std::string(input.substr(0, end)));
    input.remove_prefix(end == std::string_view::npos ? input.size() : end + 1);
  }
  json merged = {{"train", 1}};
  merge_config(merged, config);
  merged.dump();
  to_toml(merged);
}

void json_text(std::string_view input) {
  const auto value = parse_json(input, "f.json");
  demand(parse_json(value.dump(), "f.json").dump() == value.dump());
  read_options(value);
}

void terminal(std::string_view input) {
  const auto shown = printable(input);
  const auto obeyed = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
  };
  demand(std::none_of(shown.begin(), shown.end(), obeyed) && printable(shown) == shown);
  demand(printable_line(input).find_first_of("\n\t") == std::string::npos);
  static_cast<void>(json(shown).dump());
}

void manifest(std::string_view input) {
  for (const auto& [name, digest] : parse_manifest(input, "f")) demand(plain_name(name) && digest.size() == 64);
}

void sensors(std::string_view input) {
  for (const auto& reading : parse_sensors(input, "f.csv", {"u", "a"}).readings)
    demand(reading.channel == 0 || reading.channel == 1);
}

void channel_map(std::string_view input) {
  const auto end = input.find('\n');
  const std::string map(input.substr(0, end)), axes(end == std::string_view::npos ? "" : input.substr(end + 1));
  for (const auto& rule : parse_rules(map, axes)) demand(!rule.channel.empty() && !rule.text().empty());
}

}  // namespace piddm::fuzz
