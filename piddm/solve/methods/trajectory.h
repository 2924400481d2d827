#pragma once
// The Euler trajectory x_end(e) of a teacher and the gradient of a loss of its end with respect to e, in bounded
// memory.
//
// The forward pass keeps the states at the ends of segments only. The backward pass goes through the segments from last
// to first: it computes each again with its graph and multiplies by the Jacobian from the left. With segments of one
// step, memory is one graph and one state per step: 100 steps at 128x128, batch 16, are 210 MB of states and one graph
// of the network.

#include <functional>

#include "piddm/numerics/lbfgs.h"
#include "piddm/solve/methods/steps.h"

namespace piddm {

class Trajectory {
 public:
  /// `segment`: steps whose graph is kept at a time; 0: the whole trajectory, nothing computed twice.
  Trajectory(const Model& model, int64_t steps, int64_t segment, Spacing spacing = Spacing::uniform);

  /// x_end(e), no gradient.
  Tensor end(const Tensor& noise) const;

  /// Value [B] of `loss` at the end and its gradient with respect to the noise.
  Evaluation evaluate(const Tensor& noise, const std::function<Tensor(const Tensor&)>& loss);

  /// Network evaluations (of samples) repeated in backward passes so far.
  int64_t recomputed() const { return recomputed_; }

 private:
  /// Steps first..first+count-1.
  Tensor advance(Tensor x, int64_t first, int64_t count) const;

  Model model_;
  TeacherSteps steps_;
  int64_t segment_;
  int64_t recomputed_ = 0;
};

}  // namespace piddm
