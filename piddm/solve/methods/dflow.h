#pragma once
// D-Flow (Ben-Hamu et al., ICML 2024; set up as in ECI's comparison): the noise is optimised through the whole
// trajectory of the teacher.
//
//   min_e  ||M (x(e) - x')||^2 + lambda ||R(x_mix)||^2,   x(e) the end of the Euler trajectory
//          x_mix = M x' + (1-M) x(e)
//
// The misfit is that of target.h, the residual residual_norm of equation_rows.h; generation has the second alone. 50
// iterations of 100 steps are 5000 evaluations and as many backward passes (2000 in the compute-matched comparison:
// iterations = 20). Upstream runs L-BFGS with step 0.1 and no line search; here each sample has its own history and a
// strong-Wolfe search, and N iterations are N trajectories.

#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/latents.h"
#include "piddm/solve/methods/trajectory.h"

namespace piddm {

class EquationRows;

struct DflowOptions {
  int64_t steps = 100;
  LatentOptions task{LatentOptimizer::lbfgs, 50, 0.05};
  double lambda = -1;
  double boundary = 0;
  bool hard = true;
  double spread = 1;
  bool precondition = false;
  int64_t segment = 1;
  Spacing spacing = Spacing::uniform;
  int64_t batch = 0;
  template <class V>
  void fields(V&& f) {
    step_fields(f, steps, spacing);
    f("task", task, "optimisation of the noise; an iteration is one trajectory");
    f("lambda", lambda,
      "weight of the residual; negative: the method's own, 2.5 over the residual's largest curvature");
    f("boundary", boundary, at_least(0), "weight of boundary and initial conditions; none where lambda is 0");
    f("hard", hard, "tasks: replace observed entries in the sample");
    f("spread", spread, at_least(0),
      "tasks: standard deviation of the noise that the search starts from; a sample has 1");
    f("precondition", precondition,
      "measure the residual by the solution error it stands for; for PDEs with a fast solver");
    f("segment", segment, count_from(0), "steps whose graph is kept at a time, the others are computed again; 0: all");
  }
};

class DflowMethod : public BatchedMethod {
 public:
  static constexpr bool kSlow = true;
  DflowMethod(const Model& model, const DflowOptions& options);
  static Evaluations evaluations(const DflowOptions& o, Task);
  static DflowOptions matched(DflowOptions options);
  static DflowOptions within(DflowOptions options, Task task, int64_t evaluations);
  static std::vector<SearchFamily> search(const Model& model, Task task);

  /// The one in use: given, or the method's own.
  double lambda() const { return options_.lambda; }

  /// The objective, one value per sample, and its gradient; for tests and for other optimisers.
  Evaluation evaluate(const Tensor& noise, const Target& known);

 protected:
  Tensor sample(const Batch& batch) override;
  bool takes_functionals() const override { return true; }
  int64_t steps(bool) const override { return options_.task.iterations; }
  bool uses_gradient(bool) const override { return true; }
  int64_t extra_bytes() const override;

 private:
  Tensor loss(const Tensor& z, const Target& known) const;

  DflowOptions options_;
  Trajectory trajectory_;
  std::shared_ptr<const EquationRows> rows_;  ///< of the preconditioned residual
};

}  // namespace piddm
