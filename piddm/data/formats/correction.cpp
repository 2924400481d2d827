#include "piddm/data/formats/correction.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "piddm/core/fields.h"

namespace piddm {

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') parts.emplace_back();
    if (c != ',' && c != ' ') parts.back() += c;
  }
  return parts;
}

/// "u=3" as u and 3; "3" as nothing and 3.
std::pair<std::string, std::string> assignment(const std::string& part) {
  const auto equals = part.find('=');
  if (equals == std::string::npos) return {"", part};
  return {part.substr(0, equals), part.substr(equals + 1)};
}

int64_t channel_named(const std::string& name, const std::vector<std::string>& channels, const char* option) {
  const auto at = std::find(channels.begin(), channels.end(), name);
  require<UsageError>(at != channels.end(), "{}: {}", option, unknown_name_message("channel", name, channels));
  return at - channels.begin();
}

double number(const std::string& text, const char* option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require<UsageError>(error == std::errc() && end == text.data() + text.size() && std::isfinite(value),
                      "{} {}: expected CHANNEL=NUMBER, e.g. u=0.5", option, text);
  return value;
}

/// The dimension of [N,C,H,W], or of a channel with `less` = 1.
int64_t dimension(const std::string& axis, int64_t less) {
  require<UsageError>(axis == "x" || axis == "y" || axis == "t", "--reverse {}: expected x, or y or t", axis);
  return (axis == "x" ? 2 : 3) - less;
}

void transpose(Tensor& fields, const std::vector<std::string>& channels, const std::string& which) {
  if (which.empty()) return;
  if (which == "all") {
    fields = fields.transpose(2, 3).contiguous();
    return;
  }
  for (const auto& name : split(which)) {
    const auto c = channel_named(name, channels, "--transpose");
    require<DataError>(fields.size(2) == fields.size(3), "--transpose={}: fields of {}x{}; only all channels together",
                       name, fields.size(2), fields.size(3));
    fields.select(1, c).copy_(fields.select(1, c).transpose(1, 2).clone());
  }
}

void reverse(Tensor& fields, const std::vector<std::string>& channels, const std::string& which) {
  if (which.empty()) return;
  for (const auto& part : split(which)) {
    const auto [name, axis] = assignment(part);
    if (name.empty()) {
      fields = fields.flip({dimension(axis, 0)});
      continue;
    }
    auto channel = fields.select(1, channel_named(name, channels, "--reverse"));
    channel.copy_(channel.flip({dimension(axis, 1)}));
  }
}

/// Channel and number of each part of "u=115,a=-1".
std::vector<std::pair<int64_t, double>> numbers(const std::string& text, const std::vector<std::string>& channels,
                                                const char* option) {
  std::vector<std::pair<int64_t, double>> all;
  if (text.empty()) return all;
  for (const auto& part : split(text)) {
    const auto [name, value] = assignment(part);
    require<UsageError>(!name.empty(), "{} {}: expected CHANNEL=NUMBER, e.g. u=0.5", option, part);
    all.emplace_back(channel_named(name, channels, option), number(value, option));
  }
  return all;
}

AxisKind kind_named(const std::string& name) {
  require<UsageError>(name == "nodes" || name == "cells" || name == "periodic", "--from {}: {}", name,
                      unknown_name_message("kind of points", name, {"nodes", "cells", "periodic"}));
  return name == "nodes" ? AxisKind::nodes : name == "cells" ? AxisKind::cells : AxisKind::periodic;
}

}  // namespace

json Corrections::to_json() const {
  json j = json::object();
  for (const auto& [key, value] : {std::pair{"transpose", &transpose},
                                   {"reverse", &reverse},
                                   {"scale", &scale},
                                   {"shift", &shift},
                                   {"from", &from}})
    if (!value->empty()) j[key] = *value;
  if (resample != GridSize(0)) j["resample"] = resample.to_json();
  return j;
}

Tensor corrected(const Tensor& fields, const std::vector<std::string>& channels, const Corrections& corrections) {
  auto x = fields.clone();
  transpose(x, channels, corrections.transpose);
  reverse(x, channels, corrections.reverse);
  for (const auto& [c, factor] : numbers(corrections.scale, channels, "--scale")) x.select(1, c).mul_(factor);
  for (const auto& [c, offset] : numbers(corrections.shift, channels, "--shift")) x.select(1, c).add_(offset);
  return x;
}

GridPoints given_points(const GridAxes& axes, const GridSize& grid, const std::string& from) {
  GridPoints points = {{{axes[0].kind, grid.height()}, {axes[1].kind, grid.width()}}};
  if (from.empty()) return points;
  for (const auto& part : split(from)) {
    const auto [name, kind] = assignment(part);
    bool known = name.empty();
    for (size_t d = 0; d < 2; ++d) {
      if (!name.empty() && name != axes[d].name) continue;
      known = true;
      require<UsageError>(name.empty() || axes[d].kind != AxisKind::time, "--from {}: {} is time", part, name);
      if (axes[d].kind != AxisKind::time) points[d].kind = kind_named(kind);
    }
    require<UsageError>(known, "--from {}: {}", part, unknown_name_message("axis", name, {axes[0].name, axes[1].name}));
  }
  return points;
}

GridSize resampled_grid(const GridAxes& axes, const GridPoints& given, const GridSize& wanted) {
  if (wanted != GridSize(0)) return wanted;
  return {points_at_same_spacing(given[0], axes[0].kind), points_at_same_spacing(given[1], axes[1].kind)};
}

}  // namespace piddm
