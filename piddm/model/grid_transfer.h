#pragma once
// A model trained on one grid, run on another.
//
// A network of Fourier modes (fno, ffno) is a map of functions: fed the same function on a finer grid it gives the same
// function, up to aliasing. White noise is not the same function on two grids, so the latent is drawn on the grid of
// training and carried over as a trigonometric polynomial:
//
//   fine = on_grid(model, 256);  Student(fine)(fine.latents(...))   the samples of Student(model) on 256 x 256 points
//
// Best with a band-limited student, whose latent is smooth on every grid; without that head the pointwise path meets
// interpolated noise it has never seen. Positions are those of cell centres, as the networks take them: exact for PDEs
// on such grids (Darcy), half a spacing off at the edges for PDEs whose grid has points on the wall, where the head
// `constrained` sets the edge right.

#include "piddm/model/model.h"

namespace piddm {

/// x [...,H,W] at the cell centres (i+1/2)/N of each axis, carried to those of another grid by the trigonometric
/// polynomial of its modes |k| < min(N,n)/2. Differentiable. On its own grid x comes back as it is.
Tensor resample(const Tensor& x, const GridSize& grid);

/// The same student (weights shared) on another grid of the same PDE; its latents() stay on the grid it was trained on,
/// so that a seed gives the same samples on every grid. A UsageError for teachers, posteriors, networks bound to their
/// grid (unet, autoencoder, mlp), a grid that does not hold the modes of the network, and modes that the grid of
/// training did not hold, which have never been trained.
Model on_grid(const Model& model, const GridSize& grid);

}  // namespace piddm
