#pragma once
// Diffusion posterior sampling (DPS; Chung et al., ICLR 2023): every step of the trajectory is pulled by the gradient,
// through the network, of what is asked of the clean estimate x0^ (the posterior mean).
//
//   x_{t-dt} = x_t - v(x_t, t) dt - zeta grad D(x0^) - eta grad P(x0^),     gradients with respect to x_t
//   D = ||sqrt(w) M (x0^ - x')||_2 (norm, DPS and DiffusionPDE) or its mean square (square)
//   P = mean R(x0^)^2 (square, the paper) or its root (norm)
//
// The paper prints "+ v dt", which with its own v = e - x0 and t falling goes the wrong way.
// Heun (DiffusionPDE's own integrator): x' = x_t - v dt, v' = v(x', t-dt), the step is the mean of both and x0^ is
// taken from the second call; the last step is Euler's. Two evaluations a step.

#include <functional>

#include "piddm/model/model.h"
#include "piddm/process/time_grid.h"
#include "piddm/solve/terms.h"

namespace piddm {

enum class Penalty { square, norm };
inline std::vector<std::string> enum_names(Penalty) { return {"square", "norm"}; }

struct GuidanceOptions {
  int64_t steps = 100;
  double zeta = 0;  ///< weight of the observations
  double eta = 0;   ///< weight of the PDE
  double boundary = 0;
  Penalty data_penalty = Penalty::norm;
  Penalty pde_penalty = Penalty::square;
  double switch_at = 0;    ///< share of the steps without the PDE term
  double late_factor = 1;  ///< of zeta after it
  bool heun = false;
  Spacing spacing = Spacing::uniform;
};

/// Samples [B,C,H,W] in network units from `noise`; `known` may be nothing. Steps without an active term take no
/// gradient. `after_step` is called once a step. A diverging sample is stopped with its best clean estimate and a
/// warning in the name of `method`.
Tensor guided_sample(const Model& model, const Tensor& noise, const Known& known, const GuidanceOptions& options,
                     const std::string& method, const std::function<void()>& after_step);

}  // namespace piddm
