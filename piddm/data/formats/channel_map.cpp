#include "piddm/data/formats/channel_map.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "piddm/core/fields.h"

namespace piddm {

namespace {

std::vector<std::string> split_outside_brackets(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

std::pair<std::string, std::string> split_at_equals(const std::string& part, const char* option) {
  const auto at = part.find('=');
  require<UsageError>(at != std::string::npos && at > 0 && at + 1 < part.size(), "{} '{}': expected name=value", option,
                      part);
  return {part.substr(0, at), part.substr(at + 1)};
}

template <class T>
std::optional<T> parse_number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void parse_picks(const std::string& text, ChannelRule& rule) {
  for (const auto& pick : split_outside_brackets(text)) {
    const auto [axis, index] = split_at_equals(pick, "--map");
    const auto number = parse_number<int64_t>(index);
    require<UsageError>(axis.size() == 1 && kAxisLetters.find(axis[0]) != std::string_view::npos && number,
                        "--map {}: '{}' is not axis=index", rule.channel, pick);
    rule.picks[axis[0]] = *number;
  }
}

ChannelRule parse_rule(const std::string& part) {
  const auto [channel, source] = split_at_equals(part, "--map");
  ChannelRule rule{.channel = channel};
  if (const auto number = parse_number<double>(source); number && std::isfinite(*number)) {
    rule.constant = *number;
    return rule;
  }
  const auto bracket = source.find('[');
  rule.key = source.substr(0, bracket);
  if (bracket == std::string::npos) return rule;
  require<UsageError>(source.back() == ']' && !rule.key.empty(), "--map {}: expected key[axis=index]", part);
  parse_picks(source.substr(bracket + 1, source.size() - bracket - 2), rule);
  return rule;
}

}  // namespace

std::string ChannelRule::text() const {
  if (key.empty()) return fmt::format("{:.6g}", constant);
  std::vector<std::string> indices;
  for (const auto& [axis, index] : picks) indices.push_back(fmt::format("{}={}", axis, index));
  return fmt::format("{}{} ({})", key, indices.empty() ? "" : fmt::format("[{}]", fmt::join(indices, ",")), axes);
}

std::vector<ChannelRule> parse_rules(const std::string& map, const std::string& axes) {
  std::vector<ChannelRule> rules;
  for (const auto& part : split_outside_brackets(map)) rules.push_back(parse_rule(part));
  std::vector<std::string> channels;
  for (const auto& rule : rules) {
    require<UsageError>(std::find(channels.begin(), channels.end(), rule.channel) == channels.end(),
                        "--map: channel '{}' twice", rule.channel);
    channels.push_back(rule.channel);
  }
  if (axes.empty()) return rules;
  if (axes.find('=') == std::string::npos) {
    for (auto& rule : rules) rule.axes = rule.key.empty() ? "" : axes;
    return rules;
  }
  for (const auto& part : split_outside_brackets(axes)) {
    const auto [channel, letters] = split_at_equals(part, "--axes");
    const auto at = std::find(channels.begin(), channels.end(), channel);
    require<UsageError>(at != channels.end(), "--axes: {}", unknown_name_message("channel", channel, channels));
    rules[static_cast<size_t>(at - channels.begin())].axes = letters;
  }
  return rules;
}

}  // namespace piddm
