#pragma once
// Flow matching: the teacher's objective (Lipman et al. 2023; Liu et al. 2023).
//
//   L = E || v(x_t, t) - (alpha' x_0 + sigma' e) ||^2,  t ~ U(0,1),  x_t = alpha x_0 + sigma e      mean over entries

#include "piddm/model/network.h"
#include "piddm/process/process.h"
#include "piddm/train/batches.h"
#include "piddm/train/trainer.h"

namespace piddm {

class FlowMatching : public Objective {
 public:
  /// `data` [N,C,H,W] in network units, on the network's device.
  FlowMatching(Network& network, ProcessPtr process, Tensor data, int64_t batch, uint64_t seed);
  Loss loss(int64_t step) override;

 private:
  Network& network_;
  ProcessPtr process_;
  Tensor data_;
  BatchOrder order_;
  uint64_t seed_;
};

}  // namespace piddm
