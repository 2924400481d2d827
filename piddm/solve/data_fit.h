#pragma once
// Whether an answer fits the data it was made from, and whether the data can be of the model's law at all.
//
//   chi^2 = sum_i ((y_i - A_i x) / sigma_i)^2 over the noisy values of a case
//
// For n values whose sigma is right, chi^2 of the true sample has mean n and variance 2n; that of an answer which was
// fitted to them is smaller. A chi^2 far above n says that answer and data do not agree within the noise.

#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/data/normalizer.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// One known value and what the answer has there.
struct SensorFit {
  int64_t sample = 0, channel = 0;
  double i = 0, j = 0;                      ///< its entry, or where the weights of a functional have their middle
  double value = 0, sigma = 0, answer = 0;  ///< sigma 0: exact

  double chi2() const { return sigma > 0 ? (value - answer) * (value - answer) / (sigma * sigma) : 0; }

  template <class V>
  void fields(V&& f) {
    f("case", sample, "number of the case");
    f("channel", channel, "number of the channel");
    f("i", i, "entry along H, or the middle of a functional");
    f("j", j, "entry along W");
    f("value", value, "observed, physical units");
    f("sigma", sigma, "standard deviation of its noise; 0: exact");
    f("answer", answer, "what the answer, or the mean of an ensemble, has there");
  }
};

/// The known values of all cases; a scalar channel is one value per case.
std::vector<SensorFit> sensor_fits(const Observation& observation, const Tensor& x, const Pde& pde);

struct CaseFit {
  double chi2 = 0;
  int64_t noisy_values = 0;
  double p_value = 1;  ///< probability that n values of this noise have a larger chi^2

  template <class V>
  void fields(V&& f) {
    f("chi2", chi2, "sum of ((y - A x) / sigma)^2 over the noisy values");
    f("noisy_values", noisy_values, "how many there are");
    f("p_value", p_value, "probability of a larger chi2 where the sigmas are right");
  }
};

/// Of each of n cases.
std::vector<CaseFit> case_fits(const std::vector<SensorFit>& sensors, int64_t n);

/// All cases together.
CaseFit total_fit(const std::vector<CaseFit>& cases);

/// Values that lie further from a channel's mean in the training data than ten of its standard deviations: one line for
/// each channel, with the worst value; none where all is well. A functional counts in units of its gain, from what it
/// is for the mean or from zero, whichever is nearer (a flux of a field that is 0 on the wall).
std::vector<std::string> unusual_values(const Observation& observation, const Normalizer& normalizer, const Pde& pde);

/// Cases whose data the answer misses by far more than their noise, p < 1e-6: a line for the worst, or none.
std::vector<std::string> poor_fits(const std::vector<CaseFit>& fits);

}  // namespace piddm
