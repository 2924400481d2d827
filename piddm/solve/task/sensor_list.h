#pragma once
// Sensor lists: one value per line, with its place and, if it is noisy, its standard deviation.
//
//   CSV   a header line, then one value per line; columns in any order:
//         channel (name), i and j (entry along H and W, from 0) or x and y (or t) (coordinates of the equation), value
//         [, sigma (physical units, default 0: exact)] [, sample (from 0, default 0)]
//         [, kind (point, cell, line, box or flux, default point)] [, x1 and y1 (or t1): the other end of the last
//         three, empty for the others]
//         Empty lines and lines that begin with # are skipped. Scalar channels need no place: leave i and j (x and y)
//         empty.
//   NPZ   arrays of equal length [M] under the same names; channel holds channel numbers, kind numbers from 0 in the
//         order above
//
// sensor_rows.h says what the kinds are. A point or cell that is an entry of the grid becomes a value of that entry;
// everything else a functional. A cell, and a point of a channel with two values, is the nearest entry.
//
// Of several readings of one thing noisy ones are combined with weights 1/sigma^2 and an exact one stands for all. Two
// exact ones that contradict each other, a place outside the domain, an unknown channel or kind, or a value that is not
// finite is a DataError that names the line (of an NPZ: the entry).

#include <filesystem>

#include "piddm/files/tensor_map.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// Values, mask and, if any value is noisy, sigma: [B,C,H,W] float32, B = the largest sample + 1; every sample has a
/// value or a functional.
Observation read_sensor_csv(const std::filesystem::path& file, const Pde& pde);

/// The same from the arrays of an NPZ; `file` is for messages.
Observation sensors_from_arrays(const TensorMap& arrays, const std::string& file, const Pde& pde);

/// Whether these arrays are a sensor list: they have a "value".
bool is_sensor_list(const TensorMap& arrays);

}  // namespace piddm
