#pragma once
// The text of a sensor list (sensor_list.h has the rules), without LibTorch.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace piddm {

/// What a sensor measures of a field (sensor_rows.h); `cell` is the entry nearest to the place: the mean over a cell.
enum class SensorKind { point, cell, line, box, flux };
inline std::vector<std::string> enum_names(SensorKind) { return {"point", "cell", "line", "box", "flux"}; }

/// Whether sensors of this kind reach from one place to another.
inline bool has_two_places(SensorKind kind) { return kind > SensorKind::cell; }

/// One sensor as the file has it; the place is empty for scalar channels.
struct SensorReading {
  std::string origin;  ///< "sensors.csv: line 7"
  int64_t channel = 0, sample = 0;
  std::optional<double> h, w;
  double value = 0, sigma = 0;
  SensorKind kind = SensorKind::point;
  std::optional<double> h1 = {}, w1 = {};  ///< the other end
};

/// Names of the columns, and what they are for.
struct SensorColumns {
  std::map<std::string, size_t> at;  ///< number of the column
  bool coordinates = false;          ///< places are coordinates of the equation, not entries
  std::string h = "i", w = "j";
  std::string h1 = "x1", w1 = "y1";  ///< the other end, where there is one

  /// A DataError for an unknown name, one that comes twice or is missing.
  SensorColumns(const std::vector<std::string>& names, const std::string& origin);
};

struct SensorTable {
  bool coordinates = false;
  std::vector<SensorReading> readings;  ///< at least one
};

/// The readings of a CSV text; `channels` are the names that the first column may have, `file` is for messages.
SensorTable parse_sensors(std::string_view text, const std::string& file, const std::vector<std::string>& channels);

}  // namespace piddm
