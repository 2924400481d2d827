#pragma once
// Using the one-step student d: generation, latent refinement (Algorithm 2) and tasks by latent optimisation (Algorithm 3).
//
//   generate   x = d(e);  refine: e <- e - eta grad_e ||R(d(e))||^2, N_f times     (+ boundary ||B||^2 if asked for, in both)
//   solve      min_e  ||M (d(e) - x')||^2 + lambda ||R(x_mix)||^2,   x_mix = M x' + (1-M) d(e)
//              x = x_mix at the end (hard replacement), or d(e) with the replacement off; M in x_mix leaves noisy values out (target.h)
//
// Both terms are per-sample means: the first over the observed entries in network units, the second in the PDE's unit of R or, preconditioned,
// over L^-1 r / std(u), L the PDE's fast solver: the error of u that the residual stands for, so that lambda = 1 weighs both alike.

#include "piddm/model/student.h"
#include "piddm/solve/latents.h"
#include "piddm/solve/method.h"
#include "piddm/solve/target.h"

namespace piddm {

struct PiddmOptions {
  LatentOptions refine{LatentOptimizer::gd, 0, 10};
  LatentOptions task{LatentOptimizer::lbfgs, 80, 0.05};
  double lambda = 1;
  double boundary = 0;
  bool precondition = true;
  bool hard = true;
  int64_t batch = 32;

  template <class V>
  void fields(V&& f) {
    f("refine", refine, "latent refinement of generated samples; iterations = 0: none");
    f("task", task, "latent optimisation of the tasks");
    f("lambda", lambda, "weight of the residual in the tasks");
    f("boundary", boundary,
      "weight of boundary and initial conditions beside lambda, in tasks and refinement; 0: none");
    f("precondition", precondition,
      "measure the residual by the solution error it stands for, where the PDE has a fast solver");
    f("hard", hard, "replace observed entries in the sample");
    f("batch", batch, "samples optimised together; does not change the result");
  }
};

class PiddmMethod : public Method {
 public:
  PiddmMethod(const Model& model, const PiddmOptions& options);
  std::string name() const override { return "piddm"; }
  Samples generate(int64_t first, int64_t n, uint64_t seed) override;
  Samples solve(const Observation& observation, uint64_t seed) override;

  /// The objective of Algorithm 3, one value a sample; for tests and for other optimisers.
  Tensor task_loss(const Tensor& e, const Target& target) const;

 private:
  Tensor plain_norm(const Tensor& z) const;
  Tensor residual_norm(const Tensor& z) const;
  Samples finish(const std::vector<Tensor>& parts, const WorkMeter& meter, double seconds, bool optimised) const;

  Model model_;
  Student student_;
  PiddmOptions options_;
};

}  // namespace piddm
