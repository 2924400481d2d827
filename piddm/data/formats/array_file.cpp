#include "piddm/data/formats/array_file.h"

#include <algorithm>

#include "piddm/core/input_file.h"
#include "piddm/data/formats/csv.h"
#include "piddm/data/formats/hdf5.h"
#include "piddm/data/formats/mat5.h"
#include "piddm/files/npy.h"
#include "piddm/files/safetensors.h"

namespace piddm {

namespace {

/// Formats that are read as a whole.
class LoadedFile : public ArrayFile {
 public:
  LoadedFile(const std::filesystem::path& path, TensorMap tensors, const std::map<std::string, std::string>& texts = {})
      : ArrayFile(path), tensors_(std::move(tensors)) {
    for (const auto& [name, x] : tensors_) arrays_[name] = {x.sizes().vec(), x.scalar_type()};
    for (const auto& [name, text] : texts) attributes_[""][std::filesystem::path(name).stem().string()] = text;
  }

 protected:
  Tensor read_slices(const std::string& name, const std::vector<Slice>& slices) const override {
    return take_slices(tensors_.at(name), slices).clone();
  }

 private:
  TensorMap tensors_;
};

Slice complete(Slice slice, int64_t size) {
  if (slice.count < 0 && slice.stride > 0 && slice.first >= 0 && slice.first < size)
    slice.count = (size - slice.first + slice.stride - 1) / slice.stride;
  return slice;
}

bool inside(const Slice& slice, int64_t size) {
  return slice.first >= 0 && slice.first < size && slice.count >= 1 && slice.stride >= 1 &&
         slice.count - 1 <= (size - 1 - slice.first) / slice.stride;
}

std::string first_bytes(const std::filesystem::path& path, size_t bytes) {
  const InputFile file(path);
  std::string start(std::min<uint64_t>(file.size(), bytes), '\0');
  file.read(0, start.data(), start.size());
  return start;
}

ArrayFilePtr open_by_extension(const std::filesystem::path& path) {
  const auto extension = path.extension().string();
  if (extension == ".csv") return std::make_shared<LoadedFile>(path, TensorMap{{path.stem().string(), read_csv(path)}});
  if (extension == ".safetensors") {
    auto file = read_safetensors(path);
    return std::make_shared<LoadedFile>(path, std::move(file.tensors), file.metadata);
  }
  throw DataError("{}: neither MAT, HDF5, NPY nor NPZ, and its name ends neither in .csv nor in .safetensors",
                  path.string());
}

}  // namespace

std::string dtype_label(torch::ScalarType dtype) {
  std::string name = c10::toString(dtype);
  if (dtype == torch::kFloat64) name = "float64";
  if (dtype == torch::kFloat32) name = "float32";
  if (dtype == torch::kInt64) name = "int64";
  if (dtype == torch::kInt32) name = "int32";
  if (dtype == torch::kInt16) name = "int16";
  if (dtype == torch::kInt8) name = "int8";
  if (dtype == torch::kUInt8) name = "uint8";
  if (dtype == torch::kFloat16) name = "float16";
  if (dtype == torch::kBool) name = "bool";
  return name;
}

Tensor take_slices(Tensor x, const std::vector<Slice>& slices) {
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto& slice = slices[i];
    x = x.slice(static_cast<int64_t>(i), slice.first, slice.first + (slice.count - 1) * slice.stride + 1, slice.stride);
  }
  return x;
}

Tensor ArrayFile::read(const std::string& name, const std::vector<Slice>& slices) const {
  if (const auto other = refused_.find(name); other != refused_.end())
    throw DataError("{}: '{}' is {}, only real numeric arrays can be read", path_.string(), name, other->second);
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, unused] : arrays_) names.push_back(known);
    throw DataError("{}: {}", path_.string(), unknown_name_message("array", name, names));
  }
  const auto& shape = found->second.shape;
  auto all = slices.empty() ? std::vector<Slice>(shape.size()) : slices;
  require<DataError>(all.size() == shape.size(), "{}: array '{}' has {} axes, not {}", path_.string(), name,
                     shape.size(), all.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    all[i] = complete(all[i], shape[i]);
    require<DataError>(inside(all[i], shape[i]), "{}: array '{}' has {} entries on axis {}, not {} from {}",
                       path_.string(), name, shape[i], i, std::max<int64_t>(all[i].count, 1), all[i].first);
  }
  return read_slices(name, all);
}

ArrayFilePtr open_array_file(const std::filesystem::path& path) {
  const auto start = first_bytes(path, 128);
  if (is_hdf5(path)) return open_hdf5(path);
  if (start.starts_with("MATLAB 5.0 MAT-file") || (path.extension() == ".mat" && is_mat5_header(start)))
    return open_mat5(path);
  if (start.starts_with("\x93NUMPY"))
    return std::make_shared<LoadedFile>(path, TensorMap{{path.stem().string(), read_npy(path)}});
  if (start.starts_with("PK")) {
    auto npz = read_npz(path);
    return std::make_shared<LoadedFile>(path, std::move(npz.arrays), npz.texts);
  }
  return open_by_extension(path);
}

}  // namespace piddm
