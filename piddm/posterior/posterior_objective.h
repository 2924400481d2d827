#pragma once
// Training of a posterior, straight from the PDE's law: no teacher, no pairs, no steps.
//
//   L = sum_c w_c CRPS_c(x^1..x^M) + lambda ||R(x)||^2 + boundary ||B(x)||^2         means over entries and draws
//
// For each sample of the batch a fresh random observation (observation_law.h) and M draws x^m of the student given it,
// in which exact values are replaced: the physics is that of the final draws. w_c has mean 1 over the channels. lambda
// and boundary rise over the first `physics_ramp` steps; with freeze_coefficients they move u only. R, B and their
// units as in distill/student_objective.h.
//
// The minimiser of the first term is the posterior of every entry; the second ties the entries of a draw together.

#include <functional>

#include "piddm/posterior/observation_law.h"
#include "piddm/posterior/posterior_student.h"
#include "piddm/train/objective.h"

namespace piddm {

struct PosteriorLossOptions {
  int64_t draws = 2;
  double solution_weight = 1;
  double lambda = 0;
  double boundary = 0;
  bool freeze_coefficients = false;
  int64_t physics_ramp = 200;

  template <class V>
  void fields(V&& f) {
    f("draws", draws, between(2, 64), "draws of each sample of a batch");
    f("solution_weight", solution_weight, more_than(0),
      "weight of a solution channel in the score; a coefficient's is 1");
    f("lambda", lambda, at_least(0), "weight of the residual of the final draws; 0: none");
    f("boundary", boundary, at_least(0),
      "weight of the boundary and initial conditions, where the PDE has them apart from its stencil");
    f("freeze_coefficients", freeze_coefficients,
      "no gradient of the physics terms in the coefficients: only u is moved");
    f("physics_ramp", physics_ramp, count_from(0), "steps over which the physics terms rise to their weights");
  }
};

/// Everything about a posterior beside its network and its training.
struct PosteriorOptions {
  bool fresh = false;
  HeadOptions heads;
  DrawOptions draw;
  ObservationLaw observe;
  PosteriorLossOptions loss;

  template <class V>
  void fields(V&& f) {
    f("fresh", fresh, "new samples of the PDE's law at every step; else the training data over and over");
    f("heads", heads, "what makes the output; sharp in use only, not in training");
    f("draw", draw, "the noise that tells draws apart");
    f("observe", observe, "what is shown of a training sample");
    f("loss", loss, "score and physics terms");
  }
};

/// A UsageError where numbers are out of bounds or options do not go together.
void check_posterior(const PosteriorOptions& options, const std::string& path);

/// The samples of a step, [B,C,H,W] network units on the model's device.
using SampleSource = std::function<Tensor(int64_t step)>;

/// Samples of a set [N,C,H,W], batch by batch in the order of train/batches.h.
SampleSource pool_of(const Tensor& data, int64_t batch, uint64_t seed);

/// New samples of the law at every step, of numbers that no file has; solved on the model's device.
SampleSource fresh_samples(const Model& model, int64_t batch, uint64_t seed);

class PosteriorObjective : public Objective {
 public:
  /// `student` is made of `model`; both must outlive the objective.
  PosteriorObjective(const PosteriorStudent& student, const Model& model, SampleSource samples,
                     const PosteriorOptions& options, uint64_t seed);

  Loss loss(int64_t step) override;

 private:
  /// Final draws [B M,C,H,W] of a step, and what they are draws of.
  Tensor draws_of(const Tensor& z, int64_t step) const;
  void add_physics(Loss& loss, const Tensor& x, int64_t step) const;

  const PosteriorStudent& student_;
  const Model& model_;
  SampleSource samples_;
  PosteriorOptions options_;
  uint64_t seed_;
  Tensor channel_weights_;  ///< [C], mean 1
};

}  // namespace piddm
