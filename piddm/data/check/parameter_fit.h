#pragma once
// A constant of the equation recovered from data: the value for which the residual is smallest.
//
// Gauss-Newton in one variable on the residual (interior in the unit c, at smooth points, and boundary), derivative by
// central differences. The step is the median over samples, each weighted by how much it says about the parameter, so a
// few bad samples do not move it. The stencil's own error would shift the fit; the same fit to reference solutions at
// the declared value measures that shift and takes it away.

#include <functional>

#include "piddm/pde/pde.h"

namespace piddm {

struct ParameterFit {
  bool visible = false;     ///< the residual of the references has a minimum in the parameter
  bool determined = false;  ///< so has that of the data
  double value = 0;
  double standard_error = 0;  ///< from the spread over samples
};

struct ParameterRange {
  double declared = 0, low = 0, high = 0;
};

/// `pde_at(p)` is the PDE with this value; `data` and `references` are [B,C,H,W] float64, references[i] the exact
/// sample for the coefficients of data[i] at the declared value.
ParameterFit fit_parameter(const std::function<PdePtr(double)>& pde_at, const ParameterRange& range, const Tensor& data,
                           const Tensor& references);

/// The same for a parameter of this PDE.
ParameterFit fit_parameter(const Pde& pde, const Parameter& parameter, const Tensor& data, const Tensor& references);

}  // namespace piddm
