#pragma once
// Diffusion posterior sampling (DPS; Chung et al., ICLR 2023): every step of the trajectory is pulled by the gradient,
// through the network, of what is asked of the clean estimate x0^ (the posterior mean).
//
//   x_{t-dt} = x_t - v(x_t, t) dt - zeta grad D(x0^) - eta grad P(x0^),     gradients with respect to x_t
//   D = ||sqrt(w) M (x0^ - x')||_2 (norm, DPS and DiffusionPDE) or its mean square (square), with the weights of
//       Target::pull
//   P = mean R(x0^)^2 (square, the paper) or its root (norm)
//
// The paper prints "+ v dt", which with its own v = e - x0 and t falling goes the wrong way.
// Heun (DiffusionPDE's own integrator): x' = x_t - v dt, v' = v(x', t-dt), the step is the mean of both and x0^ is
// taken from the second call; the last step is Euler's. Two evaluations per step.

#include <functional>

#include "piddm/solve/methods/steps.h"
#include "piddm/solve/task/target.h"

namespace piddm {

enum class Penalty { square, norm };
inline std::vector<std::string> enum_names(Penalty) { return {"square", "norm"}; }

struct GuidanceOptions {
  int64_t steps = 100;
  Spacing spacing = Spacing::uniform;
  double zeta = 1;
  double eta = -1;
  double boundary = 0;
  Penalty data_penalty = Penalty::norm;
  Penalty pde_penalty = Penalty::square;
  double switch_at = 0;
  double late_factor = 1;
  bool heun = false;
  bool precondition = false;
  template <class V>
  void fields(V&& f) {
    step_fields(f, steps, spacing);
    f("zeta", zeta, at_least(0), "weight of the observations");
    f("eta", eta, "weight of the PDE residual; negative: the method's own, 1/4 over the residual's largest curvature");
    f("boundary", boundary, at_least(0), "weight of boundary and initial conditions; none where eta is 0");
    f("data_penalty", data_penalty, "misfit by its norm, or its mean square");
    f("pde_penalty", pde_penalty, "residual by its mean square, or the root of it (norm)");
    f("switch_at", switch_at, between(0, 1), "share of the steps before the PDE term sets in; upstream 0.8");
    f("late_factor", late_factor, at_least(0), "factor of zeta from then on; upstream 0.1");
    f("heun", heun, "Heun's method instead of Euler's: two evaluations per step");
    f("precondition", precondition,
      "measure the residual by the solution error it stands for; for PDEs with a fast solver");
  }
};

/// Samples [B,C,H,W] in network units from `noise`; `known` may be empty, eta must not be negative. Steps without an
/// active term take no gradient. `after_step` is called once per step. A diverging sample is stopped with its best
/// clean estimate and a warning in the name of `method`.
Tensor guided_sample(const Model& model, const Tensor& noise, const Target& known, const GuidanceOptions& options,
                     const std::string& method, const std::function<void()>& after_step);

}  // namespace piddm
