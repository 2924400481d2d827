#pragma once
// ECI sampling (Cheng et al., "Gradient-free generation for hard-constrained systems", ICLR 2025): at each step the
// clean estimate is extrapolated, corrected to satisfy the constraint, and interpolated back. Gradient-free; the result
// satisfies the constraint exactly.
//
//   `mixing` times per step:   x0 = C(x0^(x_t, t)),   x = alpha(s) x0 + sigma(s) e,   s = t, in the last of them t - dt
//
// e: `fixed` the initial noise throughout; `resample:k` drawn again every k evaluations; `ddim` the noise estimate of
// the step, e^ = x0^ + (x_t - x0^)/t for the linear process (the paper's printed update is not a point of the path).
//
// C: the PDE's own hard constraint (or the one given), then the known entries. Noisy observations are imposed as if
// they were exact.

#include "piddm/pde/constraint.h"
#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/steps.h"

namespace piddm {

struct EciOptions {
  int64_t steps = 100;
  int64_t mixing = 5;
  std::string noise = "fixed";
  json constraint = "pde";
  Spacing spacing = Spacing::uniform;
  int64_t batch = 0;
  template <class V>
  void fields(V&& f) {
    step_fields(f, steps, spacing);
    f("mixing", mixing, count_from(1), "corrections at each step; the compute-matched comparison takes 3");
    f("noise", noise, "fixed, resample:K (drawn again every K evaluations) or ddim (the step's own estimate)");
    f("constraint", constraint, "pde: its own hard constraint; none; or a constraint as in docs/constraints.md");
  }
};

class EciMethod : public BatchedMethod {
 public:
  EciMethod(const Model& model, const EciOptions& options);
  static Evaluations evaluations(const EciOptions& o, Task) { return {static_cast<double>(o.steps * o.mixing), 0}; }
  static EciOptions matched(EciOptions options);
  static EciOptions within(const EciOptions& o, Task, int64_t evaluations) {
    return with_steps(o, evaluations, o.mixing);
  }
  static std::vector<SearchFamily> search(const Model& model, Task task);

 protected:
  Tensor sample(const Batch& batch) override;
  int64_t steps(bool) const override { return options_.steps; }

 private:
  enum class Noise { fixed, resample, ddim };

  /// C(z), network units.
  Tensor correct(const Tensor& z, const Target& known) const;

  EciOptions options_;
  Noise noise_mode_ = Noise::fixed;
  int64_t redraw_every_ = 0;
  ConstraintPtr constraint_;  ///< instead of the PDE's own
};

}  // namespace piddm
