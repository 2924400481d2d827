#pragma once
// Number types as they travel between parent and child: "f4" "f8" "i1" "i2" "i4" "i8" "u1", little-endian, and "b1"
// (one byte, 0 or 1) when writing.

#include <optional>
#include <string>
#include <vector>

#include "piddm/data/formats/hdf5_child/handle.h"

namespace piddm::hdf5_child {

struct Element {
  std::string code;
  hid_t memory;  ///< HDF5 converts to or from this
  size_t bytes;
};

/// How numbers of this file type are delivered: half precision as f4, unsigned integers in the next larger signed type
/// (64 bits: above 2^63-1 saturated), enumerations (h5py's truth values) as their integers; nothing for other types.
std::optional<Element> element_of(hid_t file_type);

/// The type with this code.
Element element_of(const std::string& code);

/// The type h5py stores truth values in.
Handle truth_type();

std::vector<hsize_t> shape_of(hid_t space);

}  // namespace piddm::hdf5_child
