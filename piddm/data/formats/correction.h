#pragma once
// What `data import` changes in fields it has read: what `data check` may say is wrong with them.

#include <string>
#include <vector>

#include "piddm/data/resample.h"

namespace piddm {

/// Applied in this order. Channels are named as in the data set; x is the first axis of its fields, y or t the other.
struct Corrections {
  std::string transpose = {};          ///< "all", or "u,a": swap the axes of these channels alone
  std::string reverse = {};            ///< "x", "x,t" or "u=x,a=x": the other way along an axis
  std::string scale = {}, shift = {};  ///< "u=115,a=-1": multiplied by these, and then these added
  std::string from = {};               ///< the points the data have, "nodes", "cells", "periodic" or "x=nodes,y=cells"
  GridSize resample = 0;               ///< how many points they shall have; 0: so many that the spacing stays

  bool resamples() const { return !from.empty() || resample != GridSize(0); }
  bool empty() const { return transpose.empty() && reverse.empty() && scale.empty() && shift.empty() && !resamples(); }

  /// The options that are there, by name.
  json to_json() const;
};

/// [N,C,H,W] transposed, reversed, scaled and shifted, in its dtype. A UsageError names what is wrong.
Tensor corrected(const Tensor& fields, const std::vector<std::string>& channels, const Corrections& corrections);

/// The points of data on a grid of h x w: of these kinds, or of the PDE's. Time is never of another kind.
GridPoints given_points(const GridAxes& axes, const GridSize& grid, const std::string& from);

/// The grid of the PDE for data given at these points.
GridSize resampled_grid(const GridAxes& axes, const GridPoints& given, const GridSize& wanted);

}  // namespace piddm
