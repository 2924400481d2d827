#include "piddm/solve/task/sensor_list.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "piddm/core/available_memory.h"
#include "piddm/files/atomic_file.h"

namespace piddm {

namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr int64_t kMaxSamples = 100000;
constexpr double kLargestValue = std::numeric_limits<float>::max();
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // spreadsheets begin UTF-8 with it

/// One sensor as the file has it; the place is empty for scalar channels.
struct Reading {
  std::string origin;  // "sensors.csv: line 7"
  int64_t channel = 0, sample = 0;
  std::optional<double> h, w;
  double value = 0, sigma = 0;
};

/// Collects readings on the grid of a PDE.
class SensorGrid {
 public:
  /// `coordinates`: places are coordinates of the equation, not entries.
  SensorGrid(const Pde& pde, bool coordinates) : pde_(pde) {
    if (coordinates) axes_ = pde.axes();
  }

  void add(const Reading& r) {
    require<DataError>(r.channel >= 0 && r.channel < pde_.num_channels(), "{}: no channel number {} in {}", r.origin,
                       r.channel, pde_.name());
    require<DataError>(r.sample >= 0 && r.sample < kMaxSamples, "{}: sample {} is not between 0 and {}", r.origin,
                       r.sample, kMaxSamples - 1);
    require<DataError>(std::isfinite(r.value), "{}: the value is not finite", r.origin);
    require<DataError>(std::abs(r.value) <= kLargestValue, "{}: value = {} is beyond the range of a float, {}",
                       r.origin, r.value, kLargestValue);
    require<DataError>(std::isfinite(r.sigma) && r.sigma >= 0, "{}: sigma = {} must be finite and not negative",
                       r.origin, r.sigma);
    require<DataError>(r.sigma <= kLargestValue, "{}: sigma = {} is beyond the range of a float, {}", r.origin, r.sigma,
                       kLargestValue);
    const auto& channel = pde_.channels()[static_cast<size_t>(r.channel)];
    const int64_t i = channel.scalar ? 0 : entry(r, r.h, 'h'), j = channel.scalar ? 0 : entry(r, r.w, 'w');
    const auto [before, fresh] = readings_.emplace(std::tuple(r.sample, r.channel, i, j), r);
    require<DataError>(fresh, "{}: a second value of {} at ({}, {}); the first is in {}", r.origin, channel.name, i, j,
                       before->second.origin);
  }

  Observation observation(const std::string& file) const {
    require<DataError>(!readings_.empty(), "{}: no values in it", file);
    const int64_t samples = std::get<0>(readings_.rbegin()->first) + 1, n = pde_.grid();
    int64_t complete = 0;  // before memory is taken for samples that are not there
    for (const auto& [place, r] : readings_) {
      require<DataError>(std::get<0>(place) <= complete, "{}: sample {} has no value", file, complete);
      complete = std::get<0>(place) + 1;
    }
    require_memory(file + ": samples", samples, 3 * 4 * pde_.num_channels() * n * n, torch::kCPU);
    Observation out{torch::zeros({samples, pde_.num_channels(), n, n}), {}, {}};
    out.mask = torch::zeros_like(out.values);
    out.sigma = torch::zeros_like(out.values);
    for (const auto& [place, r] : readings_) {
      const auto [sample, channel, i, j] = place;
      const bool scalar = pde_.channels()[static_cast<size_t>(channel)].scalar;
      const auto set = [&, b = sample, c = channel, row = i, column = j](const Tensor& field, double value) {
        (scalar ? field[b][c] : field[b][c][row][column]).fill_(value);
      };
      set(out.values, r.value);
      set(out.mask, 1);
      set(out.sigma, r.sigma);
    }
    if (out.sigma.max().item<double>() == 0) out.sigma = Tensor();
    return out;
  }

 private:
  int64_t entry(const Reading& r, const std::optional<double>& place, char axis) const {
    require<DataError>(place.has_value(), "{}: the place is missing", r.origin);
    if (axes_) {
      const auto& along = (*axes_)[axis == 'h' ? 0 : 1];
      const auto found = along.nearest(*place, pde_.grid());
      require<DataError>(found.has_value(), "{}: {} = {} is outside the grid, 0 to {}", r.origin, along.name, *place,
                         along.length);
      return *found;
    }
    const char* name = axis == 'h' ? "i" : "j";
    require<DataError>(*place >= 0 && *place < static_cast<double>(pde_.grid()) && *place == std::floor(*place),
                       "{}: {} = {} is outside the grid, whole numbers from 0 to {}", r.origin, name, *place,
                       pde_.grid() - 1);
    return static_cast<int64_t>(*place);
  }

  const Pde& pde_;
  std::optional<GridAxes> axes_;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, Reading> readings_;
};

/// Names of the columns, and what they are for.
struct Columns {
  std::map<std::string, size_t> at;
  bool coordinates = false;
  std::string h = "i", w = "j";

  Columns(const std::vector<std::string>& names, const std::string& origin) {
    const std::vector<std::string> known = {"channel", "i", "j", "x", "y", "t", "value", "sigma", "sample"};
    for (size_t k = 0; k < names.size(); ++k) {
      require<DataError>(std::find(known.begin(), known.end(), names[k]) != known.end(), "{}: {}", origin,
                         unknown_name_message("column", names[k], known));
      require<DataError>(at.emplace(names[k], k).second, "{}: column '{}' comes twice", origin, names[k]);
    }
    coordinates = at.count("x") > 0;
    if (coordinates) h = "x", w = at.count("t") ? "t" : "y";
    for (const auto& name : {std::string("channel"), h, w, std::string("value")})
      require<DataError>(at.count(name) > 0, "{}: column '{}' is missing", origin, name);
    require<DataError>(!coordinates || !(at.count("i") || at.count("j") || (at.count("t") && at.count("y"))),
                       "{}: give places by i and j, by x and y, or by x and t", origin);
  }
};

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

int64_t channel_number(const std::string& name, const Pde& pde, const std::string& origin) {
  const auto names = pde.channel_names();
  const auto found = std::find(names.begin(), names.end(), name);
  require<DataError>(found != names.end(), "{}: {}", origin, unknown_name_message("channel", name, names));
  return found - names.begin();
}

Reading reading_of(const std::vector<std::string>& cells, const Columns& columns, const Pde& pde,
                   const std::string& origin) {
  const auto text = [&](const std::string& name) { return cells[columns.at.at(name)]; };
  const auto optional_number = [&](const std::string& name) -> std::optional<double> {
    if (columns.at.count(name) == 0 || text(name).empty()) return {};
    return number(text(name), origin, name);
  };
  const double sample = optional_number("sample").value_or(0);
  require<DataError>(sample == std::floor(sample) && std::abs(sample) < 1e15, "{}: sample = {} is not a whole number",
                     origin, sample);
  return {.origin = origin,
          .channel = channel_number(text("channel"), pde, origin),
          .sample = static_cast<int64_t>(sample),
          .h = optional_number(columns.h),
          .w = optional_number(columns.w),
          .value = number(text("value"), origin, "value"),
          .sigma = optional_number("sigma").value_or(0)};
}

/// The array called `name` as [count] float64.
Tensor column_of(const TensorMap& arrays, const std::string& name, int64_t count, const std::string& file) {
  const auto& array = arrays.at(name);
  require<DataError>(array.dim() == 1 && array.size(0) == count, "{}: '{}' has shape {}, expected ({})", file, name,
                     shape_string(array), count);
  return array.to(torch::kFloat64);
}

}  // namespace

Observation read_sensor_csv(const std::filesystem::path& path, const Pde& pde) {
  const auto text = read_file(path, kMaxBytes);
  const auto file = path.string();
  std::optional<Columns> columns;
  std::optional<SensorGrid> grid;
  size_t width = 0;
  int64_t line_number = 0;
  for (size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const auto line = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    ++line_number;
    if (line.empty() || line.starts_with('#')) continue;
    const auto origin = fmt::format("{}: line {}", file, line_number);
    const auto cells = cells_of(line);
    if (!columns) {
      columns.emplace(cells, origin);
      grid.emplace(pde, columns->coordinates);
      width = cells.size();
      continue;
    }
    require<DataError>(cells.size() == width, "{}: {} columns, the header has {}", origin, cells.size(), width);
    grid->add(reading_of(cells, *columns, pde, origin));
  }
  require<DataError>(grid.has_value(), "{}: no values in it", file);
  return grid->observation(file);
}

bool is_sensor_list(const TensorMap& arrays) { return arrays.count("value") > 0; }

Observation sensors_from_arrays(const TensorMap& arrays, const std::string& file, const Pde& pde) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  const Columns columns(names, file);
  const int64_t count = arrays.at("value").dim() == 1 ? arrays.at("value").size(0) : -1;
  std::map<std::string, Tensor> numbers;
  for (const auto& name : names) numbers[name] = column_of(arrays, name, count, file);
  const auto entry = [&](const std::string& name, int64_t k) {
    return numbers.count(name) ? numbers.at(name)[k].item<double>() : 0.0;
  };
  SensorGrid grid(pde, columns.coordinates);
  for (int64_t k = 0; k < count; ++k)
    grid.add({.origin = fmt::format("{}: entry {}", file, k),
              .channel = static_cast<int64_t>(entry("channel", k)),
              .sample = static_cast<int64_t>(entry("sample", k)),
              .h = entry(columns.h, k),
              .w = entry(columns.w, k),
              .value = entry("value", k),
              .sigma = entry("sigma", k)});
  return grid.observation(file);
}

}  // namespace piddm
