#pragma once
// MAT-files of version 5 (MATLAB's -v6 and -v7, scipy.io.savemat): little-endian numeric and logical arrays, plain or
// compressed. Cells, structs, text, sparse and complex arrays, objects and functions are left out of the listing;
// asking for one by name says why. Shapes as scipy.io.loadmat gives them. Unsigned integers beyond 8 bits come in the
// next larger signed type; 64-bit ones above 2^63-1 are refused.
//
// Opening reads headers only, an array is read when asked for. Format: MathWorks, "MAT-File Format", Level 5.

#include "piddm/data/formats/array_file.h"
#include "piddm/data/formats/mat5_reader.h"

namespace piddm {

ArrayFilePtr open_mat5(const std::filesystem::path& path);

}  // namespace piddm
