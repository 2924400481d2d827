#pragma once
// The picture of an ensemble: for each channel the truth where it is known, the mean, the standard deviation and two
// members, sensors as dots on the first of them and suggested ones on the deviation; of a coefficient with two values
// also the probability of the high one.

#include <filesystem>

#include "piddm/pde/pde.h"
#include "piddm/plot/figure.h"

namespace piddm {

/// One case; fields are [C,H,W].
struct EnsembleCase {
  Tensor mean = {}, deviation = {};
  Tensor members = {};                                                 ///< [K,C,H,W]
  Tensor probability = {};                                             ///< of channels with two values; undefined: none
  Tensor truth = {};                                                   ///< undefined: not known
  std::vector<std::vector<std::pair<double, double>>> sensors = {};    ///< entries (i, j) by channel; may be fractions
  std::vector<std::vector<std::pair<double, double>>> suggested = {};  ///< places for more of them, on the deviation
};

Figure draw_ensemble(const EnsembleCase& one, const PdePtr& pde, const std::string& title);

/// Whether a data file is an ensemble's: its description counts members.
bool is_ensemble_file(const std::filesystem::path& file);

/// A case of an ensemble file (docs/tasks.md); `truth` [N,C,H,W] or undefined.
Figure draw_ensemble_file(const std::filesystem::path& file, int64_t number, const Tensor& truth);

}  // namespace piddm
