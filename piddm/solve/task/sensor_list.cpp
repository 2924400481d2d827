#include "piddm/solve/task/sensor_list.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <optional>

#include "piddm/core/available_memory.h"
#include "piddm/core/input_file.h"
#include "piddm/solve/task/sensor_rows.h"
#include "piddm/solve/task/sensor_text.h"

namespace piddm {

namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr int64_t kMaxSamples = 100000;
constexpr double kLargestValue = std::numeric_limits<float>::max();
constexpr double kSameValue = 1e-6;  // of an exact value: what its text may have been rounded by

/// What is observed: an entry of a channel, or a functional of it.
struct Observed {
  int64_t sample, channel;
  bool entry;
  SensorKind kind;              ///< of a functional
  std::array<double, 4> where;  ///< i and j, or the coordinates of both ends
  auto operator<=>(const Observed&) const = default;
};

/// What two readings of one thing say together.
SensorReading together(const SensorReading& first, const SensorReading& second, const std::string& name) {
  if (first.sigma > 0 && second.sigma > 0) {
    const double w1 = 1 / (first.sigma * first.sigma), w2 = 1 / (second.sigma * second.sigma);
    auto both = first;
    both.value = (w1 * first.value + w2 * second.value) / (w1 + w2);
    both.sigma = 1 / std::sqrt(w1 + w2);
    return both;
  }
  if (first.sigma > 0 || second.sigma > 0) return first.sigma > 0 ? second : first;
  const double size = std::max(std::abs(first.value), std::abs(second.value));
  require<DataError>(std::abs(first.value - second.value) <= kSameValue * size,
                     "{}: {} = {} contradicts {} = {} in {}: both are exact values of one place; give them a sigma",
                     second.origin, name, second.value, name, first.value, first.origin);
  return first;
}

/// Collects functionals, sorted by sample.
class FunctionalRows {
 public:
  void add(const Observed& observed, const SensorReading& r, const SensorRow& weights, int64_t offset) {
    const auto number = static_cast<int64_t>(value_.size());
    sample_.push_back(observed.sample);
    channel_.push_back(observed.channel);
    value_.push_back(r.value);
    sigma_.push_back(r.sigma);
    gain_.push_back(weights.gain);
    for (const auto& [entry, weight] : weights.weights) {
      row_.push_back(number);
      entry_.push_back(offset + entry);
      weight_.push_back(weight);
    }
  }

  Functionals all() const {
    if (value_.empty()) return {};
    return {.sample = torch::tensor(sample_, torch::kLong),
            .channel = torch::tensor(channel_, torch::kLong),
            .value = torch::tensor(value_, torch::kFloat64),
            .sigma = torch::tensor(sigma_, torch::kFloat64),
            .gain = torch::tensor(gain_, torch::kFloat64),
            .row = torch::tensor(row_, torch::kLong),
            .entry = torch::tensor(entry_, torch::kLong),
            .weight = torch::tensor(weight_, torch::kFloat64)};
  }

 private:
  std::vector<int64_t> sample_, channel_, row_, entry_;
  std::vector<double> value_, sigma_, gain_, weight_;
};

/// Collects readings on the grid of a PDE.
class SensorGrid {
 public:
  /// `coordinates`: places are coordinates of the equation, not entries.
  SensorGrid(const Pde& pde, bool coordinates) : pde_(pde) {
    if (coordinates) axes_ = pde.axes();
  }

  void add(const SensorReading& r) {
    check_numbers(r);
    const auto& channel = pde_.channels()[static_cast<size_t>(r.channel)];
    const auto observed = channel.scalar ? Observed{r.sample, r.channel, true, {}, {}}
                          : axes_        ? observed_at_place(r, channel)
                                         : observed_entry(r, entry(r, r.h, 'h'), entry(r, r.w, 'w'));
    const auto [before, fresh] = readings_.emplace(observed, r);
    if (!fresh) before->second = together(before->second, r, channel.name);
  }

  Observation observation(const std::string& file) const {
    check_samples(file);
    auto shape = pde_.sample_shape();
    shape.insert(shape.begin(), readings_.rbegin()->first.sample + 1);
    Observation out{torch::zeros(shape), {}, {}};
    out.mask = torch::zeros_like(out.values);
    out.sigma = torch::zeros_like(out.values);
    FunctionalRows functionals;
    for (const auto& [observed, r] : readings_) {
      if (observed.entry)
        set_entry(out, observed, r);
      else
        functionals.add(observed, r, row_of(observed, r), observed.channel * pde_.grid().points());
    }
    if (out.sigma.max().item<double>() == 0) out.sigma = Tensor();
    out.functionals = functionals.all();
    return out;
  }

 private:
  void check_numbers(const SensorReading& r) const {
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
  }

  void check_samples(const std::string& file) const {
    require<DataError>(!readings_.empty(), "{}: no values in it", file);
    int64_t complete = 0;  // before memory is taken for samples that are not there
    for (const auto& [observed, r] : readings_) {
      require<DataError>(observed.sample <= complete, "{}: sample {} has no value", file, complete);
      complete = observed.sample + 1;
    }
    require_memory(file + ": samples", complete, 3 * 4 * pde_.num_channels() * pde_.grid().points(), torch::kCPU);
  }

  static Observed observed_entry(const SensorReading& r, int64_t i, int64_t j) {
    require<DataError>(!has_two_places(r.kind), "{}: a {} needs places by coordinates: columns x, y, x1 and y1",
                       r.origin, kind_name(r.kind));
    return {r.sample, r.channel, true, {}, {static_cast<double>(i), static_cast<double>(j), 0, 0}};
  }

  Observed observed_at_place(const SensorReading& r, const Channel& channel) const {
    const double h = coordinate(r, r.h, 0), w = coordinate(r, r.w, 1);
    if (has_two_places(r.kind))
      return {r.sample, r.channel, false, r.kind, {h, w, coordinate(r, r.h1, 0), coordinate(r, r.w1, 1)}};
    require<DataError>(!r.h1 && !r.w1, "{}: a {} has one place; leave x1 and the column beside it empty", r.origin,
                       kind_name(r.kind));
    if (const auto at = entry_at(pde_, {h, w}))
      return observed_entry(r, *at / pde_.grid().width(), *at % pde_.grid().width());
    if (r.kind == SensorKind::cell || channel.two_valued)
      return observed_entry(r, *(*axes_)[0].nearest(h, pde_.grid().height()),
                            *(*axes_)[1].nearest(w, pde_.grid().width()));
    return {r.sample, r.channel, false, r.kind, {h, w, 0, 0}};
  }

  void set_entry(Observation& out, const Observed& observed, const SensorReading& r) const {
    const auto i = static_cast<int64_t>(observed.where[0]), j = static_cast<int64_t>(observed.where[1]);
    const bool scalar = pde_.channels()[static_cast<size_t>(observed.channel)].scalar;
    const auto set = [&](const Tensor& field, double value) {
      const auto of_channel = field[observed.sample][observed.channel];
      (scalar ? of_channel : of_channel[i][j]).fill_(value);
    };
    set(out.values, r.value);
    set(out.mask, 1);
    set(out.sigma, r.sigma);
  }

  SensorRow row_of(const Observed& observed, const SensorReading& r) const {
    const auto& channel = pde_.channels()[static_cast<size_t>(observed.channel)];
    const Place from{observed.where[0], observed.where[1]}, to{observed.where[2], observed.where[3]};
    try {
      const auto row = observed.kind == SensorKind::line   ? line_row(pde_, channel, from, to)
                       : observed.kind == SensorKind::box  ? box_row(pde_, channel, from, to)
                       : observed.kind == SensorKind::flux ? flux_row(pde_, channel, from, to)
                                                           : point_row(pde_, channel, from);
      require<DataError>(!row.weights.empty(), "{} is 0 there in every sample", channel.name);
      return row;
    } catch (const DataError& error) {
      throw DataError("{}: {}", r.origin, error.what());
    }
  }

  static std::string kind_name(SensorKind kind) { return enum_names(kind).at(static_cast<size_t>(kind)); }

  double coordinate(const SensorReading& r, const std::optional<double>& place, size_t axis) const {
    require<DataError>(place.has_value(), "{}: the place is missing", r.origin);
    const auto& along = (*axes_)[axis];
    require<DataError>(*place >= 0 && *place <= along.length, "{}: {} = {} is outside the grid, 0 to {}", r.origin,
                       along.name, *place, along.length);
    return *place;
  }

  int64_t entry(const SensorReading& r, const std::optional<double>& place, char axis) const {
    require<DataError>(place.has_value(), "{}: the place is missing", r.origin);
    const int64_t points = axis == 'h' ? pde_.grid().height() : pde_.grid().width();
    const char* name = axis == 'h' ? "i" : "j";
    require<DataError>(*place >= 0 && *place < static_cast<double>(points) && *place == std::floor(*place),
                       "{}: {} = {} is outside the grid, whole numbers from 0 to {}", r.origin, name, *place,
                       points - 1);
    return static_cast<int64_t>(*place);
  }

  const Pde& pde_;
  std::optional<GridAxes> axes_;
  std::map<Observed, SensorReading> readings_;
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
  const auto kind = [&](int64_t k) {
    const int64_t number = whole("kind", k);
    require<DataError>(number >= 0 && number <= static_cast<int64_t>(SensorKind::flux),
                       "{}: entry {}: no kind number {}", file, k, number);
    return static_cast<SensorKind>(number);
  };
  const auto end = [&](const std::string& name, int64_t k) {
    return has_two_places(kind(k)) && numbers.count(name) ? std::optional(entry(name, k)) : std::nullopt;
  };
  SensorGrid grid(pde, columns.coordinates);
  for (int64_t k = 0; k < count; ++k)
    grid.add({.origin = fmt::format("{}: entry {}", file, k),
              .channel = whole("channel", k),
              .sample = whole("sample", k),
              .h = entry(columns.h, k),
              .w = entry(columns.w, k),
              .value = entry("value", k),
              .sigma = entry("sigma", k),
              .kind = kind(k),
              .h1 = end(columns.h1, k),
              .w1 = end(columns.w1, k)});
  return grid.observation(file);
}

}  // namespace piddm
