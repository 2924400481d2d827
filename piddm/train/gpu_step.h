#pragma once
// A training step that stays on the GPU: batch, forward, backward, gradient norm, Adam and moving average, without a
// word to the host.
//
// The first kWarmup steps run operation by operation; from the first step after them in which the objective can be
// captured, the whole step is recorded as one cuda::Graph and played from there on. What changes from step to step is
// sent before each by Objective::prepare and Adam::prepare.

#include <memory>
#include <optional>

#include "piddm/core/cuda.h"
#include "piddm/train/adam.h"
#include "piddm/train/objective.h"

namespace piddm {

/// What a step leaves for the record.
struct StepValues {
  double loss = 0, gradient_norm = 0;
  std::vector<std::pair<std::string, double>> terms;
};

class GpuStep {
 public:
  static constexpr int kWarmup = 3;

  /// `graph`: record the step if the objective allows it.
  GpuStep(Objective& objective, Adam& adam, bool graph);

  /// Puts step `step` (from 0) with learning rate `lr` into the queue of the GPU.
  void run(int64_t step, double lr);

  /// Waits, and tells of the step run last.
  StepValues values() const;

  /// Waits, and tells the first step (from 0) whose loss or gradient was not finite. It and those after it have changed
  /// nothing.
  std::optional<int64_t> failed() const;

  bool recorded() const { return graph_ != nullptr; }

 private:
  void work(int64_t step);
  void record(int64_t step);

  Objective& objective_;
  Adam& adam_;
  bool record_;
  int eager_ = 0;  ///< steps run without a graph
  Loss loss_;      ///< of the step run last, detached; a played graph writes into these tensors
  std::shared_ptr<cuda::Graph> graph_;
};

}  // namespace piddm
