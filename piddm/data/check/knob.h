#pragma once
// A number that may be wrong in data: a factor on a channel, a constant added to it, a parameter of the PDE. Fitted to
// the data by least squares, alone or two at a time.

#include <string>
#include <vector>

#include "piddm/data/check/reading.h"

namespace piddm {

struct Knob {
  enum class Kind { factor, offset, parameter };

  Kind kind = Kind::factor;
  int64_t channel = 0;  ///< of a factor or an offset: the first of `count`
  int64_t count = 1;
  Parameter parameter = {};  ///< of a parameter

  /// Whether it turns a solution channel, so that the solutions of the samples' coefficients stay the same.
  bool of_solution(const Pde& pde) const { return kind != Kind::parameter && channel < pde.num_solution_channels(); }

  /// The value that changes nothing.
  double neutral() const;

  /// The reading with this value: the channel times or plus it, the PDE with it.
  Reading apply(const Reading& reading, double value) const;
};

/// All of them, in their order.
Reading apply(const Reading& reading, const std::vector<Knob>& knobs, const std::vector<double>& values);

/// Factors and offsets of all channels, a factor of all solutions together, every parameter that is a number.
std::vector<Knob> knobs_of(const Pde& pde);

/// What a fit makes small: the sum of squares of this vector.
using Measure = std::function<Tensor(const Reading&)>;

struct KnobFit {
  std::vector<double> values;  ///< as the knobs are listed
  double total = 0;            ///< the sum of squares there
};

/// Gauss-Newton with a line search, derivatives by central differences, from values that change nothing and, with a
/// factor, from its negative: the better of the two.
KnobFit fit_knobs(const Reading& reading, const std::vector<Knob>& knobs, const Measure& measure = residual_vector);

/// The share of the sum of squares that a fit in this knob leaves, were the measure linear in it: one derivative.
double predicted_share(const Reading& reading, const Knob& knob, const Measure& measure);

/// The fit of residuals without the bias that the error of the discretisation gives it: the same fit to solutions of
/// the corrected samples' own coefficients is subtracted. `fit` where they cannot be solved.
KnobFit without_bias(const Reading& reading, const std::vector<Knob>& knobs, const KnobFit& fit);

}  // namespace piddm
