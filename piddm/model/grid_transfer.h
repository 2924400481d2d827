#pragma once
// A model trained on one grid, run on another.
//
// A network of Fourier modes (fno, ffno) is a map of functions: fed the same function on a finer grid it gives the same function, up to aliasing. White
// noise is not the same function on two grids, so the latent is drawn on the grid of training and carried over as a trigonometric polynomial:
//
//   Student(on_grid(model, 256))(model.latents(...))      the same samples as Student(model) gives, on 256 x 256 points
//
// Best with a band-limited student, whose latent is smooth on every grid; without that head the pointwise path meets interpolated noise it has never
// seen, and convolutional networks are bound to the spacing of their grid.

#include "piddm/model/model.h"

namespace piddm {

/// x [...,N,N] at the cell centres (i+1/2)/N, carried to those of an n x n grid by the trigonometric polynomial of its modes |k| < min(N,n)/2.
/// Differentiable. On its own grid x comes back as it is.
Tensor resample(const Tensor& x, int64_t n);

/// The same network (weights shared), process, normaliser and heads on another grid of the same PDE. Its Student takes latents of any grid.
Model on_grid(const Model& model, int64_t grid);

}  // namespace piddm
