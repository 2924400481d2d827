#pragma once
// DiffusionPDE (Huang et al., NeurIPS 2024): posterior sampling (guidance.h) on the observations and on the PDE
// residual of the clean estimate, in generation on the residual alone.
//
// Defaults are the paper's reading: plain Euler, the mean of R^2 throughout. Not so eta: with the paper's lambda_train
// steps overshoot; it is a quarter over the largest curvature of the residual. Upstream's own schedule is
//   steps=2000 heun=true pde_penalty=norm switch_at=0.8 late_factor=0.1
// with zeta = 5 to 5000 and eta = 1 to 100 for each PDE, in units of its own (its norms are divided by the number of
// points).

#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/guidance.h"

namespace piddm {

struct DiffusionPdeOptions {
  GuidanceOptions guidance;
  bool hard = true;
  int64_t batch = 0;
  template <class V>
  void fields(V&& f) {
    guidance.fields(f);
    f("hard", hard, "tasks: replace observed entries in the sample");
  }
};

class DiffusionPdeMethod : public BatchedMethod {
 public:
  DiffusionPdeMethod(const Model& model, const DiffusionPdeOptions& options);
  static Evaluations evaluations(const DiffusionPdeOptions& o, Task) {
    return {0, static_cast<double>(o.guidance.steps)};
  }
  static DiffusionPdeOptions matched(DiffusionPdeOptions options);
  static DiffusionPdeOptions within(DiffusionPdeOptions o, Task, int64_t evaluations) {
    o.guidance = with_steps(o.guidance, evaluations + (o.guidance.heun ? 1 : 0), o.guidance.heun ? 2 : 1);
    return o;
  }
  /// Any problem. Of the samplers on a teacher it is the best in reconstructions of Darcy, Poisson and Burgers, and in
  /// Darcy's inverse task (results/README.md).
  static std::optional<Suitability> suits(const Problem& problem);
  static std::vector<SearchFamily> search(const Model& model, Task task);

  /// The one in use: given, or the method's own.
  double eta() const { return options_.guidance.eta; }

 protected:
  Tensor sample(const Batch& batch) override;
  bool takes_functionals() const override { return true; }
  int64_t steps(bool) const override { return options_.guidance.steps; }
  bool uses_gradient(bool) const override { return true; }

 private:
  DiffusionPdeOptions options_;
};

}  // namespace piddm
