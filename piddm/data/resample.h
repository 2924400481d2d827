#pragma once
// Fields given on one kind or number of points brought to another.
//
// Along each axis by the cubic spline through the given values (not-a-knot ends; periodic where the axis is), fourth
// order for smooth fields; up to one spacing beyond the last point it is continued. A channel that has two values by
// its PDE's law, and has only two, takes the nearer one of the spline's value. For data, whose points have a kind and
// whose fields may have jumps; latents of a model, which are white noise on cell centres, are carried over as
// trigonometric polynomials (model/grid_transfer.h).

#include "piddm/pde/pde.h"

namespace piddm {

/// Where the points of one axis of a domain lie. `time` counts as nodes.
struct AxisPoints {
  AxisKind kind = AxisKind::nodes;
  int64_t points = 0;
};

/// Along H and along W.
using GridPoints = std::array<AxisPoints, 2>;

constexpr int64_t kFewestToResample = 4;  ///< given points along an axis whose points change

/// The points a PDE has: its axes' kinds, its grid.
GridPoints points_of(const Pde& pde);

/// So many points of another kind over the same domain that the spacing stays: 128 cells, 129 nodes, 128 periodic
/// points.
int64_t points_at_same_spacing(const AxisPoints& from, AxisKind to);

/// The linear map from values at `from` to values at `to`, [to.points, from.points] float64. `periodic`: the domain is
/// a ring; nodes then hold one point twice, and the second is not used. A DataError below kFewestToResample points.
Tensor resampling_matrix(const AxisPoints& from, const AxisPoints& to, bool periodic);

/// x = [B,C,H,W] given at `from` as the PDE has it: its channels, its axes, its grid. float64. Entries that boundary
/// conditions give away (Pde::given_boundary) are taken from the PDE's hard constraint; where that says nothing about
/// them they stay as interpolated.
Tensor spline_resample(const Pde& pde, const Tensor& x, const GridPoints& from);

/// x of the PDE as it would be at other points: the opposite way, without boundary conditions.
Tensor spline_resample_to(const Pde& pde, const Tensor& x, const GridPoints& to);

}  // namespace piddm
