#pragma once
// The container of a data set: named arrays and a JSON description in one .npz (member "description.json") or
// .safetensors file (metadata "description").

#include <filesystem>

#include "piddm/core/fields.h"
#include "piddm/files/tensor_map.h"

namespace piddm {

struct DataFile {
  TensorMap arrays;
  json description;  ///< an object
};

/// UsageError unless the name ends in .npz or .safetensors.
void check_data_file_name(const std::filesystem::path& path);

/// Anybody's arrays; the description is null where there is none.
DataFile read_arrays(const std::filesystem::path& path);

/// A DataError if the file is damaged or has no description.
DataFile read_data_file(const std::filesystem::path& path);

/// Atomic; the same content gives the same bytes. The digest of a file that was there before is removed.
void write_data_file(const std::filesystem::path& path, const DataFile& file);

/// Where the SHA-256 of a file is kept: "FILE.sha256", one line as sha256sum writes and checks it.
std::filesystem::path digest_path(const std::filesystem::path& path);

/// Hashes the file and writes digest_path; returns the digest.
std::string write_digest(const std::filesystem::path& path);

/// The digest kept beside the file, or "" where there is none.
std::string read_digest(const std::filesystem::path& path);

/// A DataError where a digest is kept beside the file and is not that of the file.
void check_digest(const std::filesystem::path& path);

}  // namespace piddm
