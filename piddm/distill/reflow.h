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
// Times are drawn with density cosh(ends (2t-1)), many at both ends (Lee et al., "Improving the training of rectified
// flows", 2024: 4); 0 is uniform.

#include "piddm/distill/pair_pool.h"
#include "piddm/train/trainer.h"

namespace piddm {

struct ReflowOptions {
  double ends = 4;
  TrainOptions train;

  template <class V>
  void fields(V&& f) {
    f("ends", ends, "how much more often times near 0 and 1 are drawn; 0: all alike");
    f("train", train, "training of one round");
  }
};

class Reflow : public Objective {
 public:
  Reflow(Network& network, PairSource& pairs, const ReflowOptions& options, uint64_t seed);

  Loss loss(int64_t step) override;
  std::optional<double> validate() override;

  /// The time that belongs to a uniform number u in (0,1).
  Tensor time(const Tensor& u) const;

 private:
  Tensor velocity_error(const Pairs& pairs, const Tensor& t);

  Network& network_;
  ProcessPtr process_;
  ReflowOptions options_;
  PairPool pool_;
  uint64_t seed_;
};

/// S = int_0^1 E ||v(x_t, t) - (e - x_0)||^2 dt along the model's own Euler trajectories from `latents`, mean over
/// entries; 0 for straight ones. For models with the linear process.
double straightness(const Model& model, const Tensor& latents, int64_t steps);

}  // namespace piddm
