#pragma once
// Physics-constrained flow matching (Utkarsh et al., "Physics-constrained flow matching: sampling generative models
// with hard constraints", 2025), with our solvers in place of its dense Jacobian: sampling that projects the predicted
// clean field onto the constraint at every step,
//
//   x0^ = clean estimate at (x_t, t);   x0* = projection of x0^ on {exact values} and {h = 0};   x_{t-dt} = alpha x0* +
//                                       sigma e
//
// e is the noise the sample started from, h the equations of equation_rows.h. Along the way a projection is one
// Gauss-Newton step with a few iterations of conjugate gradients; the last one is carried to the end in float64. Where
// nothing but the coefficients (and what they give away at the boundary) is observed, the last one is the PDE's exact
// decode. Noisy values pull the clean estimate to (sigma^2 x0^ + x') / (1 + sigma^2), sigma in network units, before
// the projection: the mean of the two if x0^ had the spread of the data.
//
// The network is evaluated once a step and never differentiated. A warning says so where the equations could not be
// met: observations may contradict each other, or the discrete equation at its floor.

#include "piddm/process/time_grid.h"
#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/equation_rows.h"

namespace piddm {

struct PcfmOptions {
  int64_t steps = 100;
  int64_t cg = 20;
  int64_t final_newton = 20;
  int64_t final_cg = 2000;
  Spacing spacing = Spacing::uniform;
  int64_t batch = 0;

  template <class V>
  void fields(V&& f) {
    f("steps", steps, "steps from noise to sample, one evaluation and one projection each");
    f("cg", cg, "iterations of conjugate gradients in the projection of a step");
    f("final_newton", final_newton, "Gauss-Newton steps of the last projection, at most");
    f("final_cg", final_cg, "iterations of conjugate gradients in each of them, at most");
    f("spacing", spacing,
      "times of the steps: uniform, or quadratic: short ones at the noisy end (process/time_grid.h)");
    f("batch", batch, "samples at a time; 0: as memory allows");
  }
};

class PcfmMethod : public BatchedMethod {
 public:
  PcfmMethod(const Model& model, const PcfmOptions& options);

 protected:
  Tensor sample(const Batch& batch) override;
  int64_t steps(bool) const override { return options_.steps; }
  bool uses_gradient(bool) const override { return false; }
  torch::ScalarType dtype() const override { return torch::kFloat64; }

  /// The graph of the equations and their derivative, about forty fields of each channel.
  int64_t extra_bytes() const override {
    return 8 * 40 * model_.pde->num_channels() * model_.pde->grid() * model_.pde->grid();
  }

 private:
  Tensor projected(const Tensor& z, const Target& target, const ProjectionOptions& options) const;
  Tensor finished(const Tensor& z, const Target& target) const;

  EquationRows rows_;
  PcfmOptions options_;
};

}  // namespace piddm
