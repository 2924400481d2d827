#pragma once
// DiffusionPDE (Huang et al., NeurIPS 2024): posterior sampling (guidance.h) on the observations and on the PDE
// residual of the clean estimate, in generation on the residual alone.
//
// Defaults are the paper's reading: plain Euler, eta = lambda_train on the mean of R^2 throughout. Upstream's own
// schedule is
//   steps=2000 heun=true pde_penalty=norm switch_at=0.8 late_factor=0.1
// with zeta = 5 to 5000 and eta = 1 to 100 for each PDE, in units of its own (its norms are divided by the number of
// points).

#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/guidance.h"

namespace piddm {

struct DiffusionPdeOptions {
  int64_t steps = 100;
  double zeta = 1;
  double eta = -1;
  double boundary = 0;
  Penalty data_penalty = Penalty::norm;
  Penalty pde_penalty = Penalty::square;
  double switch_at = 0;
  double late_factor = 1;
  bool heun = false;
  Spacing spacing = Spacing::uniform;
  bool hard = true;
  int64_t batch = 0;
  template <class V>
  void fields(V&& f) {
    f("steps", steps, "steps from noise to sample");
    f("zeta", zeta, "weight of the observations");
    f("eta", eta, "weight of the PDE residual; negative: lambda_train of the model's experiment");
    f("boundary", boundary, "weight of boundary and initial conditions beside eta");
    f("data_penalty", data_penalty, "misfit by its norm, or its mean square");
    f("pde_penalty", pde_penalty, "residual by its mean square, or the root of it (norm)");
    f("switch_at", switch_at, "share of the steps before the PDE term sets in; upstream 0.8");
    f("late_factor", late_factor, "factor of zeta from then on; upstream 0.1");
    f("heun", heun, "Heun's method instead of Euler's: two evaluations a step");
    f("spacing", spacing,
      "times of the steps: uniform, or quadratic: short ones at the noisy end (process/time_grid.h)");
    f("hard", hard, "tasks: replace observed entries in the sample");
    f("batch", batch, "samples at a time, does not change the result; 0: as memory allows");
  }
};

class DiffusionPdeMethod : public BatchedMethod {
 public:
  DiffusionPdeMethod(const Model& model, const DiffusionPdeOptions& options);

 protected:
  Tensor sample(const Batch& batch) override;
  int64_t steps(bool) const override { return options_.steps; }
  bool uses_gradient(bool) const override { return true; }

 private:
  DiffusionPdeOptions options_;
};

}  // namespace piddm
