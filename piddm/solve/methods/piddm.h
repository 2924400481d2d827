#pragma once
// Using the one-step student d: generation, latent refinement (Algorithm 2) and tasks by latent optimisation (Algorithm
// 3).
//
//   generate   x = d(e);  refine: e <- e - eta grad_e ||R(d(e))||^2, N_f times     (+ boundary ||B||^2 if asked for, in
//              both)
//   solve      min_e  ||M (d(e) - x')||^2 + lambda ||R(x_mix)||^2,   x_mix = M x' + (1-M) d(e)
//              x = x_mix at the end (hard replacement), or d(e) with the replacement off; M in x_mix leaves noisy
//              values out (target.h) what is left of the misfit in a field that is known in part is carried to the
//              entries around the known ones first:
//              x_mix = M x' + (1-M) (d(e) + c),  c the smoothest field with c = x' - d(e) where M = 1
//                                                (numerics/smooth_fill.h)
//
// Both terms are per-sample means: the first over the observed entries in network units, the second in the PDE's unit
// of R or, preconditioned, over L^-1 r / std(u), L the PDE's fast solver: the error of u that the residual stands for,
// so that lambda weighs errors of one kind. The objective is a sum of squares, |rows|^2, which is what gauss-newton
// works on.
//
// The search starts at spread * N(0,1), near the middle of the latents where d(e) is an average of what is possible:
// from there it has less far to go than from another sample, and starts of a case end nearer to each other
// (docs/tasks.md). spread = 1 starts at a sample of the student. In the first `anneal` of the evaluations lambda is a
// tenth of itself: what is known is fitted first, the equation settles the rest. Not with gauss-newton, whose
// iterations are too few to share.
//
// A case may have several starts: of `candidates` latents, evaluated once each without gradients, the `starts` with the
// lowest objective are optimised side by side, and the best end is the answer. Latent j of case i is a function of
// (seed, i, j). task.iterations = 0 takes the best candidate as it is; a student that knows mask and values needs no
// more than that, and would take them in output().

#include "piddm/model/student.h"
#include "piddm/solve/method.h"
#include "piddm/solve/methods/equation_rows.h"
#include "piddm/solve/methods/latents.h"
#include "piddm/solve/task/target.h"

namespace piddm {

struct PiddmOptions {
  LatentOptions refine{LatentOptimizer::gd, 0, 10};
  LatentOptions task{LatentOptimizer::lbfgs, 80, 0.05};
  double lambda = -1;
  double boundary = 0;
  bool precondition = true;
  bool hard = true;
  double reach = 8;
  double spread = 0.1;
  double anneal = 0.25;
  int64_t starts = 1;
  int64_t candidates = 1;
  int64_t batch = 32;

  template <class V>
  void fields(V&& f) {
    f("refine", refine, "latent refinement of generated samples; iterations = 0: none");
    f("task", task, "latent optimisation of the tasks");
    f("lambda", lambda,
      "weight of the residual in the tasks; negative: 10 where it is preconditioned, else the paper's 1");
    f("boundary", boundary,
      "weight of boundary and initial conditions beside lambda, in tasks and refinement; 0: none");
    f("precondition", precondition,
      "measure the residual by the solution error it stands for, where the PDE has a fast solver");
    f("hard", hard, "replace observed entries in the sample");
    f("reach", reach,
      "with hard: entries over which the misfit left at observed ones is carried to the others at the end; 0: none");
    f("spread", spread, "tasks: standard deviation of the latents that the search starts from; a sample has 1");
    f("anneal", anneal, "tasks: share of task.iterations in which lambda is a tenth of itself; 0: none");
    f("starts", starts, "tasks: latents optimised for each case, the best is kept; each takes task.iterations");
    f("candidates", candidates, "tasks: latents tried for each case, the best of them are the starts");
    f("batch", batch, "latents optimised together; does not change the result");
  }
};

class PiddmMethod : public Method {
 public:
  PiddmMethod(const Model& model, const PiddmOptions& options);
  std::string name() const override { return "piddm"; }
  Samples generate(int64_t first, int64_t n, uint64_t seed) override;
  Samples solve(const Observation& observation, uint64_t seed) override;

  /// The objective of Algorithm 3, one value a sample: |task_rows|^2.
  Tensor task_loss(const Tensor& e, const Target& target) const { return task_rows(e, target).square().sum(1); }
  Tensor task_rows(const Tensor& e, const Target& target) const { return rows(e, target, options_.lambda); }  ///< [B,M]

  /// [n] int64: evaluations each case of the last solve took, over all its candidates and starts.
  const Tensor& evaluations() const { return evaluations_; }

 private:
  Tensor rows(const Tensor& e, const Target& target, double lambda) const;

  /// The student's answer to latents, for samples of which `target` is known.
  Tensor output(const Tensor& e, const Target& target) const;

  /// z with the known values in it, and their misfit carried on.
  Tensor completed(const Tensor& z, const Target& target) const;

  /// Physical fields within what the student's heads would allow: walls and initial slices, between the values of a
  /// two-valued coefficient.
  Tensor admissible(const Tensor& x) const;

  /// Residual (and boundary) rows, |rows|^2 their weighted mean square: [B,M].
  Tensor physics_rows(const Tensor& z, bool precondition) const;

  /// Latents of the cases first, first+1, ... to start from: [cases * starts,...].
  Tensor starts_of(const Target& target, uint64_t seed, int64_t first) const;
  Tensor best_latents(const Target& target, uint64_t seed, int64_t first);

  /// The search from e with a small lambda first, then with the full one; the result counts both.
  LatentResult search(const Tensor& e, const Target& target) const;
  Samples finish(const std::vector<Tensor>& parts, const WorkMeter& meter, double seconds, bool optimised) const;

  Model model_;
  Student student_;
  EquationRows rows_;
  PiddmOptions options_;
  Tensor evaluations_;
  int64_t tangents_ = 0;  ///< evaluations the meter does not see
};

}  // namespace piddm
