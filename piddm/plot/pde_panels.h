#pragma once
// Panels of a PDE's fields: axes in the coordinates of its equation, residuals in colours that mean something.

#include "piddm/pde/pde.h"
#include "piddm/plot/figure.h"

namespace piddm {

/// A field [h,w] of a PDE whose samples are [H,W]: entry i stands at the axis' coordinate i; a smaller map (a residual
/// at the scored points) in the middle. In space the panel has the aspect of the domain, in time it is square.
FieldPanel field_panel(const std::string& title, const Tensor& field, const GridAxes& axes, int64_t height,
                       int64_t width);

/// The same without a PDE: "x" and "y" count grid points.
FieldPanel bare_panel(const std::string& title, const Tensor& field);

/// R = c r_phys of one sample at the scored points; in x, y and t the root mean square over the steps.
struct ResidualMap {
  std::string name;      ///< "R", or "R of NAME" where a PDE has several equations
  Tensor map;            ///< [h,w] float64
  double round_off = 0;  ///< RMS of what rounding the sample to float32 changes in it
  bool is_round_off() const;
};

/// Where the colours of a residual end that is nothing but round-off, in units of it.
inline constexpr double kRoundOffColors = 30;

/// Every residual field of a sample [C,H,W].
std::vector<ResidualMap> residual_maps(const Pde& pde, const Tensor& sample);

/// Root mean square.
double root_mean_square(const Tensor& x);

/// Diverging colours that end at the 99.5th percentile of |R|, or at `range`; the title says the RMS. A residual that
/// is round-off is called that and keeps to the pale middle of the colours.
FieldPanel residual_panel(const ResidualMap& residual, const Pde& pde, const Tensor& sample,
                          const std::optional<ColorRange>& range = {});

/// Mean of a scalar channel [H,W].
double scalar_of(const Tensor& field);

}  // namespace piddm
