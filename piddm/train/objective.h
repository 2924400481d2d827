#pragma once
// What is learned: a loss for every step. How it is minimised is the business of trainer.h.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "piddm/files/tensor_map.h"

namespace piddm {

/// The loss of one step and the terms it consists of, for the record.
struct Loss {
  Tensor total;
  std::vector<std::pair<std::string, Tensor>> terms;
};

/// Named tensors by part.
using ObjectiveState = std::map<std::string, TensorMap>;

class Objective {
 public:
  virtual ~Objective() = default;

  /// The host's part of step `step` (from 0), called before its loss: sends what changes from step to step into tensors
  /// on the device.
  virtual void prepare(int64_t step) { (void)step; }

  /// The loss of step `step` (from 0): a function of the weights, of the state below if there is one, and of nothing
  /// else that changes.
  virtual Loss loss(int64_t step) = 0;

  /// Whether loss() may be recorded as a cuda::Graph in step `step`: from then on, after prepare(), it does the same
  /// operations on the same memory in every step, all of them on the GPU, and never waits for it.
  virtual bool capturable(int64_t step) const {
    (void)step;
    return false;
  }

  /// Loss on held-out data with the weights as they are; nothing if there are no such data.
  virtual std::optional<double> validate() { return std::nullopt; }

  /// Whether there is a state besides the weights (a critic, a target, a running average); the rest is for those that
  /// have one.
  virtual bool keeps_state() const { return false; }

  /// Called once the weights have made step `step` (from 0): the only place where the state changes.
  virtual void advance(int64_t step) { (void)step; }

  /// The state as parts of a checkpoint, and back: with it a resumed run ends in the same bits. A missing part is a
  /// DataError.
  virtual ObjectiveState state() const { return {}; }
  virtual void load(const ObjectiveState& state) { (void)state; }
};

}  // namespace piddm
