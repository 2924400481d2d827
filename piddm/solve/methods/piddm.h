#pragma once
// Using the one-step student d: generation, latent refinement (Algorithm 2) and tasks by latent optimisation (Algorithm
// 3).
//
//   generate   x = d(e);  refine: e <- e - eta grad_e ||R(d(e))||^2, N_f times
//   solve      min_e  ||M (d(e) - x')||^2 + lambda ||R(x_mix)||^2,   x_mix = M x' + (1-M) d(e)
//              x = x_mix at the end (hard replacement), or d(e) with the replacement off
//
// Both residuals come with boundary ||B||^2 if asked for. M in x_mix leaves noisy values out (target.h). At the end,
// what is left of the misfit in a field that is known in part is carried to the entries around the known ones:
//
//   x = M x' + (1-M) (d(e) + c),  c the smoothest field with c = x' - d(e) where M = 1 (numerics/smooth_fill.h)
//
// Both terms are per-sample means: the first over the observed entries in network units, the second in the PDE's unit
// of R (over all equations, each counts the same) or, preconditioned, over L^-1 r / std(u), L the PDE's fast solver:
// the error of the solution that the residual stands for, so that lambda weighs errors of one kind. The objective is a
// sum of squares, |rows|^2, which is what gauss-newton works on.
//
// The search starts at spread * N(0,1): near the middle of the latents, where d(e) is an average of what is possible,
// or with spread = 1 at a sample of the student (docs/tasks.md). In the first `anneal` of the evaluations lambda is a
// tenth of itself: what is known is fitted first, the equation settles the rest. Not with gauss-newton.
//
// A sample with noisy values has its objective in absolute units, J n / (2 tau^2) with the misfit of target.h: chi^2/2
// plus the physics. With `randomize` (randomise, then optimise; Bardsley, Solonen, Haario, Laine, SIAM J. Sci. Comput.
// 36, 2014) an answer is a draw: values are moved by their noise, the search starts at e0 ~ N(0,I), |e - e0|^2/2 is
// part of the objective, and the physics, a term like any other there, are those of residuals moved by what the term
// allows. Where d, A and R are linear the draws have exactly the law exp(-chi^2/2 - physics - |e|^2/2).
//
// A case may have several starts: of `candidates` latents, evaluated once each without gradients, the `starts` with the
// lowest objective are optimised side by side, and the best end is the answer. Latent j of case i is a function of
// (seed, i, j). task.iterations = 0 takes the best candidate as it is.
//
// Of a student with the sharp head d is the same student without it in all of solve: a search has nothing to follow on
// steps, and where the data leave a cell open a value between the two is the better estimate.

#include "piddm/model/student.h"
#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/equation_rows.h"
#include "piddm/solve/methods/latents.h"

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
  bool randomize = false;
  int64_t batch = 0;

  template <class V>
  void fields(V&& f) {
    f("refine", refine, "latent refinement of generated samples; iterations = 0: none");
    f("task", task, "latent optimisation of the tasks");
    f("lambda", lambda,
      "weight of the residual in the tasks; negative: 10 where it is preconditioned, else the paper's 1");
    f("boundary", boundary, at_least(0),
      "weight of boundary and initial conditions beside lambda, in tasks and refinement; 0: none");
    f("precondition", precondition,
      "measure the residual by the solution error it stands for, where the PDE has a fast solver");
    f("hard", hard, "replace observed entries in the sample");
    f("reach", reach, at_least(0),
      "with hard: entries over which the misfit left at observed ones is carried to the others at the end; 0: none");
    f("spread", spread, at_least(0),
      "tasks: standard deviation of the latents that the search starts from; a sample has 1");
    f("anneal", anneal, from_to_below(0, 1),
      "tasks: share of task.iterations in which lambda is a tenth of itself; 0: none");
    f("starts", starts, count_from(1, 1e6),
      "tasks: latents optimised for each case, the best is kept; each takes task.iterations");
    f("candidates", candidates, count_from(1, 1e6),
      "tasks: latents tried for each case, the best of them are the starts");
    f("randomize", randomize,
      "tasks: each answer is a draw: noisy values perturbed, start and anchor at a latent of the prior; `spread` and "
      "several starts do not apply");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"batch", "", "it changes no result; say --set batch=N where the student is used"}};
  }
};

class PiddmMethod : public BatchedMethod {
 public:
  static constexpr bool kOwn = true;
  PiddmMethod(const Model& model, const PiddmOptions& options);
  static Evaluations evaluations(const PiddmOptions& o, Task task);
  /// In generation one evaluation is a sample as it is, more are steps of its refinement.
  static PiddmOptions within(PiddmOptions options, Task task, int64_t evaluations);
  static json draw_options() { return {{"randomize", true}, {"starts", 1}, {"candidates", 1}}; }

  /// Any problem. Of the methods that search with a network it is the best on Darcy, Poisson and Burgers
  /// (results/README.md), all but the initial state of Burgers from scattered values.
  static std::optional<Suitability> suits(const Problem& problem);

  /// The objective of Algorithm 3, one value per sample: |task_rows|^2.
  Tensor task_loss(const Tensor& e, const Target& target) const { return task_rows(e, target).square().sum(1); }
  Tensor task_rows(const Tensor& e, const Target& target) const {
    return rows(e, target, options_.lambda, {});
  }  ///< [B,M]

  /// [n] int64: evaluations each case of the last solve took, over all its candidates and starts.
  Tensor case_evaluations() const { return torch::cat(case_evaluations_); }

 protected:
  Tensor sample(const Batch& batch) override;
  bool uses_gradient(bool observed) const override { return iterations(observed) > 0; }
  bool takes_functionals() const override { return true; }
  int64_t latents_per_sample(bool observed) const override { return observed ? options_.starts : 1; }

 private:
  int64_t iterations(bool observed) const { return (observed ? options_.task : options_.refine).iterations; }

  /// What a randomised search is anchored at, by start; undefined: none.
  struct Anchor {
    Tensor e;        ///< e0
    Tensor physics;  ///< [B,M] what the rows of the physics are moved by
    Anchor select(const Tensor& starts) const;
  };
  Anchor anchor_of(const Batch& batch, const Tensor& start) const;
  Tensor rows(const Tensor& e, const Target& target, double lambda, const Anchor& anchor) const;

  /// [B,R] the misfit's rows, and [B,1] the square root of what a sample's objective is multiplied by.
  Tensor misfit_rows(const Tensor& z, const Target& target) const;
  Tensor unit(const Target& target) const;

  /// z with the known values in it, and their misfit carried on.
  Tensor completed(const Tensor& z, const Target& target) const;

  /// Physical fields within what the student's heads would allow: walls and initial slices, between the values of a
  /// two-valued coefficient.
  Tensor admissible(const Tensor& x) const;

  /// Residual (and boundary) rows, |rows|^2 their weighted mean square: [B,M].
  Tensor physics_rows(const Tensor& z, bool precondition) const;

  /// Latents of the batch's cases to start from: [cases * starts,...].
  Tensor starts_of(const Batch& batch) const;

  /// Latents that answer the batch, and those of generated samples after their refinement.
  Tensor best_latents(const Batch& batch);
  Tensor refined_latents(const Batch& batch);

  /// The search from e with a small lambda first, then with the full one; the result counts both.
  LatentResult search(const Tensor& e, const Target& target, const Anchor& anchor) const;

  Student student_;
  Student relaxed_;  ///< without the sharp head: what tasks search on and answer with
  EquationRows rows_;
  PiddmOptions options_;
  std::vector<Tensor> case_evaluations_;  ///< of each batch of the last solve
};

}  // namespace piddm
