#pragma once
// Memory of the convolutional networks (unet, autoencoder), counted from their sizes.
//
//   graph    a residual block keeps 3 (in + out) fields: what norms, activations and convolutions were given; attention
//            8 c fields and its weights, heads points^2; a change of level its input
//   working  what the largest block holds at a time: its input, and before and after its norms and maps; in the way up
//            also what was joined
//   skips    what the U-Net's way down leaves for its way up

#include "piddm/model/network.h"

namespace piddm {

/// Floats one sample of a grid x grid takes while a unet or autoencoder is evaluated: skips + working, or with a
/// gradient graph + working.
int64_t conv_activations(const Network& network, int64_t grid, bool gradient);

/// Whether the above counts this network.
bool counts_convolutions(const Network& network);

}  // namespace piddm
