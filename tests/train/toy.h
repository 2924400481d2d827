#pragma once
// A module of two tensors that chases a moving target: training in microseconds.

#include <functional>

#include "piddm/core/rng.h"
#include "piddm/train/trainer.h"

namespace piddm::testing {

struct ToyModule : torch::nn::Module {
  ToyModule()
      : first(register_parameter("first", torch::linspace(-1, 1, 6))),
        second(register_parameter("second", torch::ones({2}))) {}
  Tensor first, second;
};

/// |first - noise(step)|^2 + |second|^2, with hooks to make it fail.
class ToyObjective : public Objective {
 public:
  explicit ToyObjective(ToyModule& module) : module_(module) {}

  void prepare(int64_t step) override { prepared.push_back(step); }

  Loss loss(int64_t step) override {
    const auto distance = (module_.first - normal(1, Stream::noise, step, 1, {6})[0]).square().mean();
    const auto size = module_.second.square().mean();
    Loss out{distance + size, {{"distance", distance.detach()}, {"size", size.detach()}}};
    if (disturb) disturb(step, out);
    return out;
  }

  std::optional<double> validate() override {
    if (held_out) return held_out();
    return std::nullopt;
  }

  std::vector<int64_t> prepared;  ///< steps announced so far
  std::function<void(int64_t step, Loss& loss)> disturb;
  std::function<double()> held_out;

 private:
  ToyModule& module_;
};

inline TrainOptions toy_options(int64_t steps) {
  TrainOptions options;
  options.steps = steps;
  options.batch = 4;
  options.adam.lr = 0.05;
  options.log_every = 1;
  options.checkpoint_every = 4;
  return options;
}

}  // namespace piddm::testing
