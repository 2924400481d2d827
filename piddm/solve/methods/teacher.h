#pragma once
// The teacher itself: its velocity integrated from t = 1 to the end of its process, by Euler x_{t-dt} = x_t - v(x_t, t)
// dt or another integrator (process/integrator.h). Tasks by posterior sampling (guidance.h) on the
// observations alone, no PDE, in Euler's steps.

#include "piddm/process/integrator.h"
#include "piddm/solve/batched_method.h"

namespace piddm {

struct TeacherOptions {
  int64_t euler_steps = 100;
  IntegratorKind integrator = IntegratorKind::euler;
  double tolerance = 1e-5;
  Spacing spacing = Spacing::uniform;
  double zeta = 1;
  bool hard = true;
  int64_t batch = 0;
  template <class V>
  void fields(V&& f) {
    f("euler_steps", euler_steps, "steps from noise to sample, of heun too");
    f("integrator", integrator,
      "generation: euler, heun (two evaluations a step) or adaptive (a batch shares its steps)");
    f("tolerance", tolerance, "error of a step of adaptive, relative to 1 + |x|");
    f("spacing", spacing,
      "times of the steps: uniform, or quadratic: short ones at the noisy end (process/time_grid.h)");
    f("zeta", zeta, "tasks: weight of the gradient of the misfit's norm");
    f("hard", hard, "tasks: replace observed entries in the sample");
    f("batch", batch, "samples at a time, does not change the result; 0: as memory allows");
  }
};

class TeacherMethod : public BatchedMethod {
 public:
  TeacherMethod(const Model& model, const TeacherOptions& options) : TeacherMethod("teacher", model, options) {}

 protected:
  /// The same under another name.
  TeacherMethod(const std::string& name, const Model& model, const TeacherOptions& options);
  Tensor sample(const Batch& batch) override;
  int64_t steps(bool observed) const override;
  bool uses_gradient(bool observed) const override { return observed; }

 private:
  TeacherOptions options_;
};

}  // namespace piddm
