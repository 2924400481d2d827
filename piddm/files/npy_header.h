#pragma once
// The header of an NPY file (npy.h has the rules), without LibTorch.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "piddm/files/array_layout.h"
#include "piddm/files/zip.h"

namespace piddm {

struct NpyHeader {
  NumberType type;
  std::vector<int64_t> shape;
  bool fortran_order = false;
  size_t data_bytes = 0;  ///< what the shape needs, and what follows in the stream
};

/// The header of a stream of `bytes` bytes, of which the data are left; a DataError begins with "[npy] origin".
NpyHeader read_npy_header(const ReadBytes& read, uint64_t bytes, const std::string& origin);

/// A header of version 1.0, padded; nothing for a type that NumPy has not.
std::optional<std::string> npy_header_text(NumberType type, const std::vector<int64_t>& shape);

}  // namespace piddm
