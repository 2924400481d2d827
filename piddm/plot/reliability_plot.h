#pragma once
// The reliability of ensembles as a picture: how often intervals that state a share hold the truth.

#include "piddm/plot/figure.h"

namespace piddm {

/// One channel.
struct Reliability {
  std::string channel;
  std::vector<double> stated = {};    ///< shares
  std::vector<Curve> observed = {};   ///< their `y`, one per kind of interval; `x` is filled in
  std::vector<BarSeries> ranks = {};  ///< shares of the truths in bins of their rank, one series per quantity
};

/// For each channel the observed shares against the stated ones: on the diagonal the spread is right, below it the
/// answers are too sure of themselves. Ranks beside it: level where they are right, high at both ends where the spread
/// is too small.
Figure draw_reliability(const std::vector<Reliability>& channels, const std::string& title);

}  // namespace piddm
