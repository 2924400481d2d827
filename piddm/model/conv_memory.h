#pragma once
// Memory of the convolutional networks (unet, autoencoder), counted from their sizes.
//
//   graph    a residual block keeps 3 (in + out) fields: what norms, activations and convolutions were given; attention
//            8 c fields and its weights, heads points^2; a change of level its input
//   working  what the largest block holds at a time: its input, and what its norms and maps take and give; on the way
//            up also what was joined
//   skips    what the U-Net's way down leaves for its way up

#include "piddm/model/autoencoder.h"
#include "piddm/model/unet.h"

namespace piddm {

/// Floats one sample of a grid x grid takes while the network is evaluated: skips + working, or with a gradient
/// graph + working.
int64_t unet_activations(const UnetOptions& options, const GridSize& grid, bool gradient);
int64_t autoencoder_activations(const AutoencoderOptions& options, const GridSize& grid, bool gradient);

}  // namespace piddm
