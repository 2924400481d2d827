#pragma once
// What networks share in front: checks of sizes and shapes, the coordinates of the grid. The encoding of t is that of
// fno.h.

#include <string>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

/// DataErrors unless x is [B,channels,H,W] and t is [B] or [1]: "[unet] expected (B,2,H,W), got (8,3,64,64)".
void check_inputs(const std::string& type, const Tensor& x, const Tensor& t, int64_t channels);

/// UsageErrors unless there are two even mode counts of at least 2; unless time features are even and at least 4.
void check_modes(const std::vector<int64_t>& modes);
void check_time_features(int64_t features);

/// [2, H W]: (i+1/2)/H and (j+1/2)/W of every point.
Tensor coordinates_of(int64_t height, int64_t width, const torch::TensorOptions& options);

}  // namespace piddm
