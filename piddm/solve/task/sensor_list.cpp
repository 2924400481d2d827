#include "piddm/solve/task/sensor_list.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "piddm/core/available_memory.h"
#include "piddm/core/input_file.h"
#include "piddm/solve/task/sensor_text.h"

namespace piddm {

namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr int64_t kMaxSamples = 100000;
constexpr double kLargestValue = std::numeric_limits<float>::max();

/// Collects readings on the grid of a PDE.
class SensorGrid {
 public:
  /// `coordinates`: places are coordinates of the equation, not entries.
  SensorGrid(const Pde& pde, bool coordinates) : pde_(pde) {
    if (coordinates) axes_ = pde.axes();
  }

  void add(const SensorReading& r) {
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
    const int64_t samples = std::get<0>(readings_.rbegin()->first) + 1;
    int64_t complete = 0;  // before memory is taken for samples that are not there
    for (const auto& [place, r] : readings_) {
      require<DataError>(std::get<0>(place) <= complete, "{}: sample {} has no value", file, complete);
      complete = std::get<0>(place) + 1;
    }
    require_memory(file + ": samples", samples, 3 * 4 * pde_.num_channels() * pde_.grid().points(), torch::kCPU);
    auto shape = pde_.sample_shape();
    shape.insert(shape.begin(), samples);
    Observation out{torch::zeros(shape), {}, {}};
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
  int64_t entry(const SensorReading& r, const std::optional<double>& place, char axis) const {
    require<DataError>(place.has_value(), "{}: the place is missing", r.origin);
    const int64_t points = axis == 'h' ? pde_.grid().height() : pde_.grid().width();
    if (axes_) {
      const auto& along = (*axes_)[axis == 'h' ? 0 : 1];
      const auto found = along.nearest(*place, points);
      require<DataError>(found.has_value(), "{}: {} = {} is outside the grid, 0 to {}", r.origin, along.name, *place,
                         along.length);
      return *found;
    }
    const char* name = axis == 'h' ? "i" : "j";
    require<DataError>(*place >= 0 && *place < static_cast<double>(points) && *place == std::floor(*place),
                       "{}: {} = {} is outside the grid, whole numbers from 0 to {}", r.origin, name, *place,
                       points - 1);
    return static_cast<int64_t>(*place);
  }

  const Pde& pde_;
  std::optional<GridAxes> axes_;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, SensorReading> readings_;
};

/// The array called `name` as [count] float64.
Tensor column_of(const TensorMap& arrays, const std::string& name, int64_t count, const std::string& file) {
  const auto& array = arrays.at(name);
  require<DataError>(array.dim() == 1 && array.size(0) == count, "{}: '{}' has shape {}, expected ({})", file, name,
                     shape_string(array), count);
  return array.to(torch::kFloat64);
}

}  // namespace

Observation read_sensor_csv(const std::filesystem::path& path, const Pde& pde) {
  const auto table = parse_sensors(read_file(path, kMaxBytes), path.string(), pde.channel_names());
  SensorGrid grid(pde, table.coordinates);
  for (const auto& reading : table.readings) grid.add(reading);
  return grid.observation(path.string());
}

bool is_sensor_list(const TensorMap& arrays) { return arrays.count("value") > 0; }

Observation sensors_from_arrays(const TensorMap& arrays, const std::string& file, const Pde& pde) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  const SensorColumns columns(names, file);
  const int64_t count = arrays.at("value").dim() == 1 ? arrays.at("value").size(0) : -1;
  std::map<std::string, Tensor> numbers;
  for (const auto& name : names) numbers[name] = column_of(arrays, name, count, file);
  const auto entry = [&](const std::string& name, int64_t k) {
    return numbers.count(name) ? numbers.at(name)[k].item<double>() : 0.0;
  };
  const auto whole = [&](const std::string& name, int64_t k) {
    const double number = entry(name, k);
    require<DataError>(number == std::floor(number) && std::abs(number) < 1e15,
                       "{}: entry {}: {} = {} is not a whole number", file, k, name, number);
    return static_cast<int64_t>(number);
  };
  SensorGrid grid(pde, columns.coordinates);
  for (int64_t k = 0; k < count; ++k)
    grid.add({.origin = fmt::format("{}: entry {}", file, k),
              .channel = whole("channel", k),
              .sample = whole("sample", k),
              .h = entry(columns.h, k),
              .w = entry(columns.w, k),
              .value = entry("value", k),
              .sigma = entry("sigma", k)});
  return grid.observation(file);
}

}  // namespace piddm
