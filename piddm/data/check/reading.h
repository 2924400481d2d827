#pragma once
// A way to read a data set: these fields, measured against this PDE. A hypothesis of what is wrong with the data turns
// one reading into another; it is good where the other one's misfit is smaller.

#include <array>
#include <functional>
#include <optional>

#include "piddm/pde/other_forms.h"

namespace piddm {

/// How far samples are from the equation, as squares without units. Infinite where something is not finite.
struct Misfit {
  double residual = 0;  ///< mean square of the residual over that of its reference term, mean over the equations
  double boundary = 0;  ///< mean square boundary error over the mean square of the first solution channel
  double covered = 1;   ///< the share of the scored points that count (ResidualField::smooth)

  /// Both parts in units of what exact data score.
  double total(const Misfit& floor) const { return residual / floor.residual + boundary / floor.boundary; }
};

struct Reading {
  PdePtr pde;
  Tensor x;                            ///< [B,C,H,W] float64
  Misfit floor = {1, 1};               ///< what exact data score, neither part 0
  std::optional<OtherForm> form = {};  ///< in place of the PDE's own residual
  std::array<bool, 2> open = {};       ///< along H, W: the entries beside the wrap-around of a ring do not count
  bool inside = false;                 ///< neither boundary conditions nor the scored entries beside a wall count
};

Misfit misfit(const Reading& reading);

/// All residuals in one vector, so scaled that the sum of squares is misfit(reading).total(reading.floor).
Tensor residual_vector(const Reading& reading);

/// The solution channels less the solution for the sample's own coefficients, so scaled that the sum of squares is the
/// mean over samples and channels of the mean square over that of the solution. Costs a solve, unless the solution is
/// known.
Tensor distance_vector(const Reading& reading, Tensor solution = {});

/// A reading made from another one; an Error where that is not possible.
using Change = std::function<Reading(const Reading&)>;

/// change(reading), or nothing where it is not possible.
std::optional<Reading> attempt(const Change& change, const Reading& reading);

/// The same samples with the solutions of their own admissible coefficients, read with the same PDE and nothing left
/// out: what exact data score.
Reading exact(const Reading& reading);

}  // namespace piddm
