#pragma once
// Sensor lists: one value per line, with its place and, if it is noisy, its standard deviation.
//
//   CSV   a header line, then one value per line; columns in any order:
//         channel (name), i and j (entry along H and W, from 0) or x and y (or t) (coordinates of the equation), value
//         [, sigma (physical units, default 0: exact)] [, sample (from 0, default 0)]
//         Empty lines and lines that begin with # are skipped. Scalar channels need no place: leave i and j (x and y)
//         empty.
//   NPZ   arrays of equal length [M] under the same names; channel holds channel numbers
//
// A coordinate means the nearest entry. A place outside the grid, a second value for an entry, an unknown channel or a
// value that is not finite is a DataError that names the line (of an NPZ: the entry).

#include <filesystem>

#include "piddm/files/tensor_map.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// Values, mask and, if any value is noisy, sigma: [B,C,H,W] float32, B = the largest sample + 1; every sample has a
/// value.
Observation read_sensor_csv(const std::filesystem::path& file, const Pde& pde);

/// The same from the arrays of an NPZ; `file` is for messages.
Observation sensors_from_arrays(const TensorMap& arrays, const std::string& file, const Pde& pde);

/// Whether these arrays are a sensor list: they have a "value".
bool is_sensor_list(const TensorMap& arrays);

}  // namespace piddm
