#pragma once
// The teacher itself: its velocity integrated from t = 1 to the end of its process, by Euler's steps
// x_{t-dt} = x_t - v(x_t, t) dt or another integrator (process/integrator.h). Tasks by posterior sampling (guidance.h)
// on the observations alone, without the PDE, in Euler's steps.

#include "piddm/process/integrator.h"
#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/steps.h"

namespace piddm {

struct TeacherOptions {
  int64_t steps = 100;
  IntegratorKind integrator = IntegratorKind::euler;
  Spacing spacing = Spacing::uniform;
  double zeta = 1;
  bool hard = true;
  int64_t batch = 0;
  template <class V>
  void fields(V&& f) {
    step_fields(f, steps, spacing);
    f("integrator", integrator,
      "generation: euler, heun (two evaluations per step) or adaptive (a batch shares its steps)");
    f("zeta", zeta, at_least(0), "tasks: weight of the gradient of the misfit's norm");
    f("hard", hard, "tasks: replace observed entries in the sample");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"euler_steps", "steps"}, {"tolerance", "", "adaptive steps have a tolerance of 1e-5"}};
  }
};

class TeacherMethod : public BatchedMethod {
 public:
  static constexpr bool kOwn = true;
  TeacherMethod(const Model& model, const TeacherOptions& options) : TeacherMethod("teacher", model, options) {}
  static Evaluations evaluations(const TeacherOptions& o, Task task);
  static TeacherOptions within(const TeacherOptions& o, Task task, int64_t evaluations);

 protected:
  /// The same under another name.
  TeacherMethod(const std::string& name, const Model& model, const TeacherOptions& options);
  Tensor sample(const Batch& batch) override;
  bool takes_functionals() const override { return true; }
  int64_t steps(bool observed) const override;
  bool uses_gradient(bool observed) const override { return observed; }

 private:
  TeacherOptions options_;
};

}  // namespace piddm
