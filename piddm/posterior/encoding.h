#pragma once
// What is known of a sample as images for a network.
//
// A footprint is an entry (or the entries) that a known value belongs to, with the value and how far it is trusted:
//
//   p = s0 / (s0 + sigma)        precision: 1 exact, 1/2 at sigma = s0 = 0.02, towards 0 for a useless value
//   v = value / (1 + sigma^2)    shrunken: what a prior of variance 1 leaves of it
//
// sigma and values in network units. Each field channel gives 4 images [B,H,W], each scalar channel 2 (constant):
//
//   p where a value is, 0 elsewhere           p of the known value, else 0
//   v where a value is, 0 elsewhere           v
//   v of the nearest footprint
//   1/(1 + sigma^2) l/(l + d) of the nearest footprint, d its distance, l = 1/20 of the longer side
//
// Where nothing is known of a channel: zeros. A point is a footprint of one entry; a linear functional of the field
// (the average over some cells or along a line) is one of several entries with its value at each.

#include "piddm/solve/task/target.h"

namespace piddm {

/// [B,C,H,W] each.
struct Footprints {
  Tensor known;  ///< bool
  Tensor value;  ///< network units
  Tensor sigma;  ///< 0 where exact
};

Footprints footprints_of(const Target& target);

/// 4 for each field channel and 2 for each scalar channel of the PDE.
int64_t encoding_channels(const Pde& pde);

/// [B, encoding_channels, H, W]: first those of the field channels in their order, then those of the scalars.
Tensor encode(const Footprints& known, const Pde& pde);

}  // namespace piddm
