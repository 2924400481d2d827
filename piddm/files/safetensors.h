#pragma once
// safetensors files: u64 header length, a JSON header {name: {dtype, shape, data_offsets}}, then the raw little-endian
// data.
//
// Reading trusts nothing: the header is at most 16 MiB, starts with '{', has no duplicate keys; sizes are
// overflow-checked; the data ranges cover the rest of the file exactly, without holes or overlaps; at most 65536
// tensors of rank at most 8. No memory is taken before these checks, so the tensors never need more than the size of
// the file. A violation is a DataError that names the file and the tensor. Types: F64 F32 F16 BF16 I64 I32 I16 I8 U8
// BOOL.
//
// What is written here may carry a digest, metadata "piddm.sha256": of the header without it, keys sorted, no spaces,
// and of the data. Where it is present it is compared; files of other people have none.

#include <filesystem>
#include <map>
#include <string>

#include "piddm/files/tensor_map.h"

namespace piddm {

struct Safetensors {
  TensorMap tensors;
  std::map<std::string, std::string> metadata;  ///< without the digest
};

/// Where the digest of a file is: in its metadata, or in another file beside it.
enum class SafetensorsDigest { inside, elsewhere };

Safetensors read_safetensors(const std::filesystem::path& path);

/// Atomic; the same content gives the same bytes (data ordered by item size, then by name, so that every tensor is
/// aligned). Complex tensors are refused: store torch::view_as_real.
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       SafetensorsDigest digest = SafetensorsDigest::inside);

}  // namespace piddm
