#pragma once
// How well the answers of a method to sparse, noisy sensors are draws from the posterior: many answers to each of some
// cases whose truth is known.
//
// A case shows what its task reveals (solve/task/task.h), with noise of one standard deviation relative to the
// channel's; it is repeated once for each member, so that the members are numbers k, k+1, ... of one seed.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "piddm/eval/ensembles/rank_test.h"
#include "piddm/solve/method.h"
#include "piddm/solve/task/task.h"

namespace piddm {

struct CalibrationOptions {
  Task task = Task::inverse;
  ObserveOptions reveal = {.points = 100};
  double noise = 0;         ///< sigma of the values of fields, in standard deviations of their channel
  double noise_factor = 1;  ///< how much larger their noise really is than this sigma, which the method is told
  int64_t members = 64;
  uint64_t seed = 0;
  std::vector<std::pair<std::string, double>> factors = {};  ///< of channels whose intervals are widened (conformal.h)
};

/// Shares of the intervals that are judged.
inline constexpr std::array<double, 19> kIntervalShares = {0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5,
                                                           0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95};

/// Members against the exact Gaussian posterior, over unknown entries.
struct GaussianGap {
  double mean = 0;         ///< RMS of (mean of the members - exact mean), in standard deviations of the channel
  double spread = 0;       ///< RMS of the members' standard deviation over that of the exact one
  double wasserstein = 0;  ///< mean W2 of an entry's members from its exact law, in standard deviations of the channel
  double floor = 0;        ///< the same of as many draws of the exact law
};

/// Of one channel, means over the cases.
struct ChannelCalibration {
  std::string channel;
  bool cells = false;                ///< errors are shares of wrong cells of a two-valued coefficient, else relative L2
  double one, mean;                  ///< error of one member and of their mean (of cells: the mean cut halfway)
  bool asked = false;                ///< whether anything of it was unknown; else the rest is 0
  double crps = 0;                   ///< fair CRPS in standard deviations of the channel, over unknown entries
  double coverage = 0;               ///< share of these with the truth in the interval of the members
  double nominal = 0;                ///< and what it should be (ensemble.h)
  double spread_skill = 0;           ///< sqrt((1 + 1/K) mean variance / mean square error of the mean); calibrated: 1
  std::vector<double> covered = {};  ///< by the intervals of kIntervalShares; none of two-valued channels
  std::vector<double> covered_widened = {};  ///< the same widened, where a factor was given
  double factor = 0;                         ///< what these cases would widen intervals of 90 % by; 0: not known
  std::vector<RankTest> ranks = {};
  std::optional<GaussianGap> gap = {};

  /// The entry of `covered` for one of kIntervalShares; NaN where there is none.
  static double at(const std::vector<double>& shares, double share);
};

struct Calibration {
  std::vector<ChannelCalibration> channels;
  std::vector<ChannelCalibration> exact =
      {};                       ///< draws of each entry's exact law, where it is known (exact_posterior.h)
  std::string no_exact = {};    ///< why there are none
  double warned = 0;            ///< share of the cases that `solve` warns of (data_fit.h)
  double nfe = 0, seconds = 0;  ///< per member
};

/// What the task reveals of true samples [n,C,H,W], physical units, with that noise; sample i by (seed, i).
Observation noisy_observation(const CalibrationOptions& options, const Tensor& truth, const Model& model);

Calibration calibrate(Method& method, const Model& model, const Tensor& truth, const CalibrationOptions& options);

}  // namespace piddm
