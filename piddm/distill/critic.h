#pragma once
// The critic of distribution matching: a velocity model of the law of the student's own samples, trained beside the
// student by flow matching.
//
//   min ||v(x_t, t) - (alpha' x + sigma' e)||^2,   x_t = alpha x + sigma e
//
// with x a sample of the student, without gradient.

#include "piddm/model/model.h"
#include "piddm/train/adam.h"
#include "piddm/train/objective.h"

namespace piddm {

class Critic {
 public:
  /// `network` starts as the teacher's, and belongs to the critic alone.
  Critic(NetworkPtr network, ProcessPtr process, const AdamOptions& options);

  /// Training step `k` (from 1) on samples x with noise e [B,C,H,W] at times t [B].
  void learn(int64_t k, const Tensor& x, const Tensor& e, const Tensor& t);

  /// E[x|x_t] under the critic, no gradient.
  Tensor clean(const Tensor& x_t, const Tensor& t) const;

  const Tensor& last_loss() const { return last_loss_; }  ///< float32 [1], 0 before the first step

  ObjectiveState state() const;
  void load(const ObjectiveState& state);

 private:
  NetworkPtr network_;
  ProcessPtr process_;
  AdamOptions options_;
  Adam adam_;
  Tensor last_loss_;
};

}  // namespace piddm
