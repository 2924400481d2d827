#pragma once
// HDF5 files (PDEBench, The Well, ECI, MAT v7.3), read and written by the child process of hdf5_process.h.

#include <string>
#include <utility>
#include <vector>

#include "piddm/data/formats/array_file.h"
#include "piddm/data/formats/hdf5_process.h"

namespace piddm {

/// Whether an HDF5 signature is where one may be: at byte 0, 512, 1024, 2048, ...
bool is_hdf5(const std::filesystem::path& path);

/// Arrays under their full names ("t0_fields/u"), attributes of groups and arrays. In files of MATLAB (name ends in
/// .mat) all axes are reversed, see array_file.h. Lists the file at once; reads only what is asked for.
ArrayFilePtr open_hdf5(const std::filesystem::path& path, const Hdf5Limits& limits = {});

struct Hdf5Content {
  std::vector<std::pair<std::string, Tensor>> arrays;  ///< float32, float64, integers or bool; rank at least 1
  json attributes = json::object();                    ///< {"object": {"name": value}}, "" is the root
};

/// Atomic; the same content gives the same bytes.
void write_hdf5(const std::filesystem::path& path, const Hdf5Content& content, const Hdf5Limits& limits = {});

}  // namespace piddm
