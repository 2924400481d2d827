#pragma once
// Files of named arrays, whatever wrote them: MAT (v5, v7, v7.3), HDF5, NPY, NPZ, CSV, safetensors.
//
// The type is recognised by the file's first bytes, CSV and safetensors by their extensions. Shapes are those of the
// program the format belongs to: numpy.load, scipy.io.loadmat, h5py; MAT v7.3 files (HDF5 written by MATLAB, axes
// reversed) have the axes of MATLAB's own index order, as loadmat would give. The one array of an NPY or CSV file is
// called like the file, without extension.
//
// Trusts nothing: sizes are checked against the file before memory is taken, compressed data may expand to at most
// kMaxExpansion times the file. Whatever is wrong is a DataError that names the file and the place.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/data/formats/byte_stream.h"
#include "piddm/files/tensor_map.h"

namespace piddm {

/// Part of an axis: `count` entries from `first`, every stride-th; count -1: up to the end.
struct Slice {
  int64_t first = 0, count = -1, stride = 1;
};

struct ArrayInfo {
  std::vector<int64_t> shape;
  torch::ScalarType dtype;
};

/// {object: {attribute: value}}, "" is the file itself.
using Attributes = std::map<std::string, json>;

class ArrayFile {
 public:
  explicit ArrayFile(std::filesystem::path path) : path_(std::move(path)) {}
  virtual ~ArrayFile() = default;
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, ArrayInfo>& arrays() const { return arrays_; }

  /// Whether the file has something of this name that cannot be read; read() says what it is.
  bool refuses(const std::string& name) const { return refused_.count(name) > 0; }

  /// Whether a part of an array costs less than all of it.
  virtual bool reads_parts() const { return true; }

  /// HDF5 attributes, and the texts of NPZ and safetensors.
  const Attributes& attributes() const { return attributes_; }

  /// The part of an array that `slices` (one per axis, or none: all of it) describe. A DataError for an unknown name
  /// (with the nearest one) or a slice outside the array.
  Tensor read(const std::string& name, const std::vector<Slice>& slices = {}) const;

 protected:
  /// `slices` are inside the array, complete and not empty.
  virtual Tensor read_slices(const std::string& name, const std::vector<Slice>& slices) const = 0;

  std::filesystem::path path_;
  std::map<std::string, ArrayInfo> arrays_;
  std::map<std::string, std::string> refused_;  ///< what is in the file but cannot be read: "a cell array", "complex"
  Attributes attributes_;
};

using ArrayFilePtr = std::shared_ptr<const ArrayFile>;

ArrayFilePtr open_array_file(const std::filesystem::path& path);

/// "float32", "int64", ...: how listings call the type.
std::string dtype_label(torch::ScalarType dtype);

/// The entries of x the slices describe.
Tensor take_slices(Tensor x, const std::vector<Slice>& slices);

}  // namespace piddm
