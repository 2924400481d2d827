#pragma once
// The header of a safetensors file (safetensors.h has the rules), without LibTorch.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "piddm/core/input_file.h"
#include "piddm/files/array_layout.h"

namespace piddm {

constexpr uint64_t kMaxSafetensorsHeader = uint64_t{16} << 20;
constexpr size_t kMaxSafetensorsEntries = 65536;
constexpr const char* kSafetensorsMetadata = "__metadata__";
constexpr const char* kSafetensorsDigest = "piddm.sha256";  ///< key of the metadata

struct SafetensorsEntry {
  std::string name;
  NumberType type;
  std::vector<int64_t> shape;
  uint64_t begin, end;  ///< of its data, from the first byte after the header
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;        ///< by offset; together they are all that follows the header
  std::map<std::string, std::string> metadata;  ///< without the digest
  std::string digest;                           ///< "" where it carries none
  std::string digested;                         ///< the header without it, of which the digest is
  uint64_t data_begin = 0;                      ///< in the file
};

SafetensorsHeader read_safetensors_header(const InputFile& file);

/// "F32", "BOOL", ...
std::string safetensors_name(NumberType type);

/// "[safetensors] file: tensor 'name'", how every message about a tensor starts.
std::string safetensors_label(const InputFile& file, const std::string& name);

}  // namespace piddm
