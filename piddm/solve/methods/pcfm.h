#pragma once
// Physics-constrained flow matching (Utkarsh et al., "Physics-constrained flow matching: sampling generative models
// with hard constraints", 2025), with our solvers in place of its dense Jacobian: sampling that projects the predicted
// clean field onto the constraint at every step,
//
//   x0^ = clean estimate at (x_t, t)
//   x0* = projection of x0^ on {exact values} and {h = 0}
//   x_{t-dt} = alpha x0* + sigma e
//
// e is the noise the sample started from, h the equations of equation_rows.h. Along the way a projection is one
// Gauss-Newton step with a few iterations of conjugate gradients; the last one is carried to the end in float64. Where
// nothing but the coefficients (and what they give away at the boundary) is observed, the last one is the PDE's exact
// decode. Noisy values pull the clean estimate to (sigma^2 x0^ + x') / (1 + sigma^2), sigma in network units, before
// the projection: the mean of the two if x0^ had the spread of the data.
//
// The network is evaluated once per step and never differentiated. A warning says so where the equations could not be
// met: observations may contradict each other, or the discrete equation at its floor.

#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/equation_rows.h"
#include "piddm/solve/methods/steps.h"

namespace piddm {

struct PcfmOptions {
  int64_t steps = 100;
  Spacing spacing = Spacing::uniform;
  int64_t batch = 0;

  template <class V>
  void fields(V&& f) {
    step_fields(f, steps, spacing);
  }
  static std::vector<FormerKey> former_keys() {
    constexpr auto kWhy = "projections have a fixed budget of conjugate gradients";
    return {{"cg", "", kWhy}, {"final_newton", "", kWhy}, {"final_cg", "", kWhy}};
  }
};

class PcfmMethod : public BatchedMethod {
 public:
  PcfmMethod(const Model& model, const PcfmOptions& options);
  static Evaluations evaluations(const PcfmOptions& o, Task) { return {static_cast<double>(o.steps), 0}; }
  static PcfmOptions within(const PcfmOptions& o, Task, int64_t evaluations) { return with_steps(o, evaluations); }

 protected:
  Tensor sample(const Batch& batch) override;
  int64_t steps(bool) const override { return options_.steps; }
  torch::ScalarType dtype() const override { return torch::kFloat64; }
  int64_t extra_bytes() const override { return rows_.bytes_per_sample(); }

 private:
  Tensor projected(const Tensor& z, const Target& target, const ProjectionOptions& options) const;
  Tensor finished(const Tensor& z, const Target& target) const;

  EquationRows rows_;
  PcfmOptions options_;
};

}  // namespace piddm
