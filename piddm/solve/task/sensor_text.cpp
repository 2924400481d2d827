#include "piddm/solve/task/sensor_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "piddm/core/fields.h"

namespace piddm {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // spreadsheets begin UTF-8 with it

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (size_t at = 0; at <= line.size();) {
    const size_t end = std::min(line.find(',', at), line.size());
    cells.emplace_back(trimmed(line.substr(at, end - at)));
    at = end + 1;
  }
  return cells;
}

double number(const std::string& text, const std::string& origin, const std::string& column) {
  double value = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  require<DataError>(error != std::errc::result_out_of_range, "{}: {} = {} is beyond the range of a float", origin,
                     column, text.substr(0, 32));
  require<DataError>(error == std::errc() && end == text.data() + text.size() && !text.empty(),
                     "{}: {} = '{}' is not a number", origin, column, text.substr(0, 32));
  return value;
}

int64_t channel_number(const std::string& name, const std::vector<std::string>& names, const std::string& origin) {
  const auto found = std::find(names.begin(), names.end(), name);
  require<DataError>(found != names.end(), "{}: {}", origin, unknown_name_message("channel", name, names));
  return found - names.begin();
}

SensorKind kind_of(const std::string& name, const std::string& origin) {
  const auto names = enum_names(SensorKind{});
  const auto found = std::find(names.begin(), names.end(), name);
  require<DataError>(found != names.end(), "{}: {}", origin, unknown_name_message("kind", name, names));
  return static_cast<SensorKind>(found - names.begin());
}

SensorReading reading_of(const std::vector<std::string>& cells, const SensorColumns& columns,
                         const std::vector<std::string>& channels, const std::string& origin) {
  const auto text = [&](const std::string& name) { return cells[columns.at.at(name)]; };
  const auto optional_number = [&](const std::string& name) -> std::optional<double> {
    if (columns.at.count(name) == 0 || text(name).empty()) return {};
    return number(text(name), origin, name);
  };
  const double sample = optional_number("sample").value_or(0);
  require<DataError>(sample == std::floor(sample) && std::abs(sample) < 1e15, "{}: sample = {} is not a whole number",
                     origin, sample);
  const bool kinds = columns.at.count("kind") > 0 && !text("kind").empty();
  return {.origin = origin,
          .channel = channel_number(text("channel"), channels, origin),
          .sample = static_cast<int64_t>(sample),
          .h = optional_number(columns.h),
          .w = optional_number(columns.w),
          .value = number(text("value"), origin, "value"),
          .sigma = optional_number("sigma").value_or(0),
          .kind = kinds ? kind_of(text("kind"), origin) : SensorKind::point,
          .h1 = optional_number(columns.h1),
          .w1 = optional_number(columns.w1)};
}

}  // namespace

SensorColumns::SensorColumns(const std::vector<std::string>& names, const std::string& origin) {
  const std::vector<std::string> known = {"channel", "i",  "j",  "x",     "y",     "t",     "kind",
                                          "x1",      "y1", "t1", "value", "sigma", "sample"};
  for (size_t k = 0; k < names.size(); ++k) {
    require<DataError>(std::find(known.begin(), known.end(), names[k]) != known.end(), "{}: {}", origin,
                       unknown_name_message("column", names[k], known));
    require<DataError>(at.emplace(names[k], k).second, "{}: column '{}' comes twice", origin, names[k]);
  }
  coordinates = at.count("x") > 0;
  if (coordinates) h = "x", w = at.count("t") ? "t" : "y";
  w1 = w == "t" ? "t1" : "y1";
  for (const auto& name : {std::string("channel"), h, w, std::string("value")})
    require<DataError>(at.count(name) > 0, "{}: column '{}' is missing", origin, name);
  require<DataError>(!coordinates || !(at.count("i") || at.count("j") || (at.count("t") && at.count("y"))),
                     "{}: give places by i and j, by x and y, or by x and t", origin);
  const bool ends = at.count("x1") || at.count("y1") || at.count("t1");
  require<DataError>(!ends || (coordinates && at.count(h1) && at.count(w1)),
                     "{}: columns x1 and {} go together, and with x and {}", origin, w1, w);
}

SensorTable parse_sensors(std::string_view text, const std::string& file, const std::vector<std::string>& channels) {
  std::optional<SensorColumns> columns;
  SensorTable table;
  size_t width = 0;
  int64_t line_number = 0;
  for (size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const auto line = trimmed(text.substr(at, end - at));
    at = end + 1;
    ++line_number;
    if (line.empty() || line.starts_with('#')) continue;
    const auto origin = fmt::format("{}: line {}", file, line_number);
    const auto cells = cells_of(line);
    if (!columns) {
      columns.emplace(cells, origin);
      width = cells.size();
      continue;
    }
    require<DataError>(cells.size() == width, "{}: {} columns, the header has {}", origin, cells.size(), width);
    table.readings.push_back(reading_of(cells, *columns, channels, origin));
  }
  require<DataError>(!table.readings.empty(), "{}: no values in it", file);
  table.coordinates = columns->coordinates;
  return table;
}

}  // namespace piddm
