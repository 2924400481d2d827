#pragma once
// What it costs to bring data to the points of a PDE: how well they satisfy its discrete equation before and after, and
// how well any data could.

#include <optional>

#include "piddm/data/resample.h"

namespace piddm {

struct ResamplingCost {
  struct Score {
    double pde_error = 0, rel_residual = 0;  ///< as data/statistics.h
  };

  int64_t samples = 0;
  std::optional<Score> before = {};          ///< taken as if their points were the PDE's; none where no grid fits them
  Score after = {};                          ///< resampled
  std::optional<Score> there_and_back = {};  ///< solutions for the same coefficients, brought to those points and back
  std::optional<Score> solutions = {};       ///< these solutions as they are: the floor; none where they cannot be had

  /// {"samples": N, "before": {"pde_error": .., "rel_residual": ..}, "after", "there_and_back", "floor"}.
  json to_json() const;

  /// An aligned table.
  std::string text() const;
};

/// `given` = [N,C,h,w] at the points `from`, of which `resampled` = [N,C,H,W] of the PDE were made. Costs N solves.
ResamplingCost resampling_cost(const Pde& pde, const Tensor& given, const GridPoints& from, const Tensor& resampled);

}  // namespace piddm
