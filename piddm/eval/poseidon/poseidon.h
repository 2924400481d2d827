#pragma once
// A published Poseidon checkpoint: a folder with config.json and the weights, either model.safetensors or shards named
// by model.safetensors.index.json. None is shipped with this project; the folder is the user's own download (Poseidon-B
// for the distances of the literature).

#include <filesystem>

#include "piddm/eval/poseidon/scot.h"

namespace piddm {

/// A DataError says what is wrong with the folder: missing, a model of ours, weights in another format only, damaged,
/// tensors that do not fit.
ScotEncoder load_poseidon(const std::filesystem::path& folder, torch::Device device = torch::kCPU,
                          torch::ScalarType dtype = torch::kFloat32);

}  // namespace piddm
