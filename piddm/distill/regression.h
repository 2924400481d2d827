#pragma once
// Distillation by regression under the PDE residual of the student's own final sample (Algorithm 1 of the paper).
//
//   match = ||d(e) - x_0||^2        over the teacher's noise-data pairs (e, x_0); distance and physics as in
//                                   student_objective.h

#include "piddm/distill/draws.h"
#include "piddm/distill/pair_pool.h"
#include "piddm/distill/student_objective.h"

namespace piddm {

class Regression : public StudentObjective {
 public:
  Regression(const Student& student, const Model& model, PairSource& pairs, const StudentLossOptions& options,
             int64_t batch, uint64_t seed);

  void prepare(int64_t step) override;
  Loss loss(int64_t step) override;
  bool capturable(int64_t step) const override { return latents_.is_cuda() && steady(step); }
  std::optional<double> validate() override { return judge(pool_); }

 private:
  PairPool pool_;
  std::optional<Draws> fresh_;  ///< latents for the physics beside those of the pairs
  Tensor latents_, targets_;    ///< of the prepared step, in the same place for all steps; the latents with fresh ones
  int64_t prepared_ = -1;
};

}  // namespace piddm
