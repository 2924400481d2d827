#pragma once
// Where the next sensors should stand: the places that would lower the spread of an ensemble most, one after the other.
//
// With the ensemble's covariance P and a value of entry j with noise sigma, the Gaussian update is
//
//   P <- P - p_j p_j^T / (P_jj + sigma^2),   p_j = column j of P,
//
// so the sum of variances falls by |p_j|^2 / (P_jj + sigma^2): the greedy choice is the j with the largest fall. P is
// kept as X^T X, X the deviations of the members over sqrt(K - 1), or any other square root; the update is Potter's
//
//   X <- X - alpha x_j (x_j^T X),   alpha = 1 / (d (1 + sigma / sqrt(d))),   d = |x_j|^2 + sigma^2
//
// and no matrix of the size of P is formed.

#include <string>
#include <vector>

#include "piddm/data/normalizer.h"
#include "piddm/solve/task/task.h"

namespace piddm {

struct Suggestion {
  int64_t entry = 0;  ///< column of X
  double before = 0;  ///< sum of variances without it, and with it
  double after = 0;
};

/// `root`: X [K,D] float64; `candidate` [D] bool; `sigma` [D] noise of a value there. At most `count`, each entry once.
std::vector<Suggestion> suggest_sensors(const Tensor& root, const Tensor& candidate, const Tensor& sigma,
                                        int64_t count);

/// X of members [K,...]: [K,D] float64.
Tensor ensemble_root(const Tensor& members);

struct SuggestedSensor {
  int64_t channel = 0, i = 0, j = 0;
  double x = 0, y = 0;  ///< coordinates of the equation
  double spread = 0;    ///< root of the sum of variances with it and those before it, over that without any

  template <class V>
  void fields(V&& f) {
    f("channel", channel, "number of the channel");
    f("i", i, "entry along H");
    f("j", j, "entry along W");
    f("x", x, "coordinate along H");
    f("y", y, "coordinate along W, y or t");
    f("spread", spread, "spread of the ensemble with it and those before, as a share of that without");
  }
};

/// For members [K,C,H,W] of one case: all channels count, in network units. Candidates are the unknown entries of the
/// field channels that are known in part, or where there are none of all that are not known entirely; the noise of a
/// value is the mean sigma of its channel's known values, and at least 0.01.
std::vector<SuggestedSensor> suggest_sensors(const Tensor& members, const Observation& observation, const Pde& pde,
                                             const Normalizer& normalizer, int64_t count);

/// Lines "channel,x,y" (or t) under their header.
std::string sensor_lines(const std::vector<SuggestedSensor>& sensors, const Pde& pde);

}  // namespace piddm
