#pragma once
// Data sets of ours in other people's formats.

#include <filesystem>
#include <string>
#include <vector>

#include "piddm/data/dataset.h"

namespace piddm {

enum class ExportFormat { npz, safetensors, hdf5, well };
inline std::vector<std::string> enum_names(ExportFormat) { return {"npz", "safetensors", "hdf5", "well"}; }

/// npz, safetensors, hdf5: one [N,H,W] array per channel and the description (HDF5: attribute "description" of the
/// root); well: the layout of well.h. All can be imported again without a preset (well: with preset well).
void export_dataset(const std::filesystem::path& path, const Dataset& dataset, ExportFormat format,
                    torch::ScalarType dtype = torch::kFloat32);

}  // namespace piddm
