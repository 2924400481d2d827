#pragma once
// Tables of numbers: one row a line, values separated by commas, no header, as numpy.savetxt(delimiter=',') and PIDM's
// data sets write them. Spaces around values, CRLF and a missing last line end are accepted; rows must be equally long.

#include <filesystem>

#include "piddm/core/tensor.h"

namespace piddm {

/// [rows, columns] float64; a DataError names file, line and column. Memory: at most 16 times the size of the file.
Tensor read_csv(const std::filesystem::path& path);

}  // namespace piddm
