#pragma once
// Reflow (Liu et al., "Flow straight and fast", 2023): a velocity model learned on straight lines between the ends of
// another model's trajectories.
//
//   min ||v(x_t, t) - (e - x_0)||^2,   x_t = (1-t) x_0 + t e,   (e, x_0) pairs of the previous model
//
// Each round makes the trajectories straighter, until one Euler step e - v(e,1) lands where a hundred do; what comes
// out is a teacher with the linear process, whatever the process of the one before. RF-k is k rounds; the student is
// then distilled by regression (regression.h) from the pairs of the last ("straighten before distilling", InstaFlow).
//
// Times are drawn with density cosh(4 (2t-1)), many at both ends (Lee et al., "Improving the training of rectified
// flows", 2024).

#include "piddm/distill/pair_pool.h"
#include "piddm/train/trainer.h"

namespace piddm {

/// The training of one round.
struct ReflowOptions {
  int64_t steps = 10000;
  int64_t batch = 128;
  double lr = 1e-3;
  double ema = 0.999;
  int64_t validate_every = 0;

  template <class V>
  void fields(V&& f) {
    f("steps", steps, count_from(1), "optimiser steps of a round");
    f("batch", batch, count_from(1), "samples per step");
    f("lr", lr, more_than(0), "peak learning rate");
    f("ema", ema, from_to_below(0, 1), "decay of the moving average of the weights");
    f("validate_every", validate_every, count_from(0), "steps between two looks at held-out pairs; 0: never");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"ends", "", "times are always drawn with density cosh(4 (2t-1))"},
            {"train.steps", "steps"},
            {"train.batch", "batch"},
            {"train.adam.lr", "lr"},
            {"train.adam.ema", "ema"},
            {"train.validate_every", "validate_every"},
            {"train", "", "steps, batch, lr, ema and validate_every of a round are left"}};
  }

  /// These options with those of `later` that a run may be continued with.
  ReflowOptions continued_with(const ReflowOptions& later) const;
};

/// How a round is trained; checkpoints and records as often as in the training of the student.
TrainOptions training_of_round(const ReflowOptions& options, const TrainOptions& student);

/// What round `round` (from 1) is called, its folder too.
std::string name_of_round(int64_t round);

class Reflow : public Objective {
 public:
  Reflow(Network& network, PairSource& pairs, int64_t batch, uint64_t seed);

  Loss loss(int64_t step) override;
  std::optional<double> validate() override;

  /// The time that belongs to a uniform number u in (0,1).
  static Tensor time(const Tensor& u);

 private:
  Tensor velocity_error(const Pairs& pairs, const Tensor& t);

  Network& network_;
  ProcessPtr process_;
  PairPool pool_;
  uint64_t seed_;
};

/// S = int_0^1 E ||v(x_t, t) - (e - x_0)||^2 dt along the model's own Euler trajectories from `latents`, mean over
/// entries; 0 for straight ones. For models with the linear process.
double straightness(const Model& model, const Tensor& latents, int64_t steps);

}  // namespace piddm
