#pragma once
// Flow matching: the teacher's objective (Lipman et al. 2023; Liu et al. 2023).
//
//   L = E || v(x_t, t) - (alpha' x_0 + sigma' e) ||^2,  x_t = alpha x_0 + sigma e      mean over entries
//
// Times are spaced as those of a sampler's steps (process/time_grid.h): t = t_end + (1 - t_end) u for u ~ U(0,1), as
// the literature has it, or quadratic, t = 1 - (1 - t_end) (1 - u)^2, of density 1 / (2 sqrt(1 - t)): never less than
// half of the uniform one, and many more within 1/s of t = 1, where a mode of variance s^2 takes its size.
//
// On a GPU the batch is made there in one pass (cuda/flow_batch.h) and only the rows of its samples come from the host.

#include "piddm/model/network.h"
#include "piddm/process/process.h"
#include "piddm/process/time_grid.h"
#include "piddm/train/batches.h"
#include "piddm/train/trainer.h"

namespace piddm {

class FlowMatching : public Objective {
 public:
  /// `data` [N,C,H,W] in network units, on the network's device.
  FlowMatching(Network& network, ProcessPtr process, const Tensor& data, int64_t batch, uint64_t seed,
               Spacing times = Spacing::uniform);

  void prepare(int64_t step) override;
  Loss loss(int64_t step) override;
  bool capturable(int64_t /*step*/) const override { return fused_; }

 protected:
  /// x_t and v's target [B,C,H,W], t [B].
  struct Batch {
    Tensor x_t, target, t;
  };

  /// The loss of v = v(x_t, t) on this batch.
  virtual Loss judge(const Batch& batch, const Tensor& v);

  Network& network_;
  ProcessPtr process_;

 private:
  Tensor times(const Tensor& u) const;
  Batch composed_batch(int64_t step);
  Batch fused_batch() const;

  Tensor data_;
  BatchOrder order_;
  uint64_t seed_;
  Spacing spacing_;
  bool fused_;             ///< whether batches are made by the kernel
  Tensor sent_;            ///< int64 [1+B] on the GPU: number of the batch's first sample, rows of data_
  int64_t prepared_ = -1;  ///< the step that sent_ belongs to
};

}  // namespace piddm
