#pragma once
// NumPy's NPY and NPZ files (numpy.lib.format, versions 1.0 to 3.0), readable by numpy.load.
//
// Types: little-endian f2 f4 f8 i1 i2 i4 i8 u1 b1. Fortran order is accepted on reading and brought to C order; pickled
// objects, records, text, big-endian and other types are refused. A header has at most 10000 bytes, and shape times
// item size must be exactly the bytes that are there, which is checked before any memory is taken. A violation is a
// DataError that names the file and the member.

#include <filesystem>
#include <map>
#include <string>

#include "piddm/files/tensor_map.h"

namespace piddm {

Tensor read_npy(const std::filesystem::path& path);
void write_npy(const std::filesystem::path& path, const Tensor& x);

struct Npz {
  TensorMap arrays;  ///< members "name.npy", under "name"
  std::map<std::string, std::string>
      texts;  ///< every other member under its full name, e.g. "description.json"; at most 16 MiB each
};

/// Members stored or deflated; archive rules in zip.h.
Npz read_npz(const std::filesystem::path& path);

/// Atomic, stored without compression; the same content gives the same bytes.
void write_npz(const std::filesystem::path& path, const Npz& npz);

}  // namespace piddm
