#pragma once
// How well the answers of a method to sparse, noisy sensors are draws from the posterior: many answers to each of some
// cases whose truth is known.
//
// A case shows what its task reveals (solve/task/task.h), with noise of one standard deviation relative to the
// channel's; it is repeated once for each member, so that the members are numbers k, k+1, ... of one seed.

#include <string>
#include <vector>

#include "piddm/solve/method.h"
#include "piddm/solve/task/task.h"

namespace piddm {

struct CalibrationOptions {
  Task task = Task::inverse;
  ObserveOptions reveal = {.points = 100};
  double noise = 0;  ///< sigma of the values of fields, in standard deviations of their channel
  int64_t members = 64;
  uint64_t seed = 0;
};

/// Of one channel, means over the cases.
struct ChannelCalibration {
  std::string channel;
  bool cells = false;       ///< errors are shares of wrong cells of a two-valued coefficient, else relative L2
  double one, mean;         ///< error of one member and of their mean (of cells: the mean cut halfway)
  bool asked = false;       ///< whether anything of it was unknown; else the rest is 0
  double crps = 0;          ///< fair CRPS in standard deviations of the channel, over unknown entries
  double coverage = 0;      ///< share of these with the truth in the interval of the members
  double nominal = 0;       ///< and what it should be (ensemble.h)
  double spread_skill = 0;  ///< sqrt((1 + 1/K) mean variance / mean square error of the mean); calibrated: 1
};

struct Calibration {
  std::vector<ChannelCalibration> channels;
  double nfe = 0, seconds = 0;  ///< per member
};

/// What the task reveals of true samples [n,C,H,W], physical units, with that noise; sample i by (seed, i).
Observation noisy_observation(const CalibrationOptions& options, const Tensor& truth, const Model& model);

Calibration calibrate(Method& method, const Model& model, const Tensor& truth, const CalibrationOptions& options);

}  // namespace piddm
