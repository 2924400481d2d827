#pragma once
// Other people's files as a data set of ours.

#include <filesystem>
#include <string>
#include <vector>

#include "piddm/data/dataset.h"
#include "piddm/data/formats/array_file.h"
#include "piddm/data/formats/correction.h"

namespace piddm {

struct ImportOptions {
  std::vector<std::filesystem::path> files;  ///< or folders, whose data files are taken in the order of their names
  std::string preset;                        ///< see import_presets.h; empty: `map`, else a data set of ours
  std::string map;                           ///< "u=sol,a=coeff[t=0],phi=0.785", see channel_rule.h
  std::string axes;                          ///< of all arrays, "ntx", or of single channels, "u=ntx,a=nx"
  Corrections corrections;                   ///< of what was read
  std::string pde;                           ///< a PDE of ours these are samples of; empty: what the preset says
  json parameters = json::object();          ///< of that PDE
  int64_t first = 0, n = -1;                 ///< samples; -1: all
  std::string stride, grid;                  ///< "5" or "16x4": every so many points, or so many points (H x W)
  torch::ScalarType dtype = torch::kFloat32;
};

/// Fields before they were resampled, in the order of the PDE's channels.
struct FieldsAsGiven {
  Tensor fields;  ///< [N,C,h,w] of the first kSamplesAsGiven; undefined: nothing was resampled
  GridPoints points = {};
};

constexpr int64_t kSamplesAsGiven = 64;

/// Files with different arrays belong together (p_data.csv and K_data.csv); when a name comes again, a new part of the
/// samples begins (darcy_1.mat, darcy_2.mat). The result is checked for finite values; its description has the files'
/// names and SHA-256, preset, map and what the preset warns of under "source". Where a preset's PDE does not fit (not
/// square, a size it does not take) the PDE is left out and the notes say so; a PDE that was asked for must fit. Data
/// that are resampled must have a PDE, whose kinds of points they get. What was corrected stands under "source" too;
/// seed, law and floor that a data set of ours declares are not those of corrected fields.
Dataset import_dataset(const ImportOptions& options, FieldsAsGiven* given = nullptr);

/// {"file": ..., "arrays": {name: {shape, dtype}}, "attributes": {...}}: what can be imported from this file.
json describe_array_file(const ArrayFile& file);

}  // namespace piddm
