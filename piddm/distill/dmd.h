#pragma once
// Distribution matching distillation (Yin et al. 2024): the student's law is moved towards the teacher's along the
// difference of their scores.
//
//   x = d(e),  x_t = alpha x + sigma e',  g = (E_fake[x|x_t] - E_real[x|x_t]) / mean |x - E_real[x|x_t]|
//   match = 1/2 ||x - sg(x - g)||^2 + regression ||d(e) - x_0||^2,     so that d match / dx = g / entries
//
// mean |..| is over the entries of a sample.
//
// E_real is the teacher's clean estimate, E_fake that of a critic that follows the student (critic.h). As E[x|x_t] =
// (x_t + sigma^2 s)/alpha, g = (sigma^2/alpha) (s_fake - s_real) / mean|..|: the gradient of KL(p_fake || p_real), of a
// size that does not depend on t.
//
// dmd takes one critic step per step of the student and needs the regression term on the teacher's pairs; dmd2 (Yin et
// al., "Improved distribution matching distillation", 2024) lets the critic run ahead with several steps instead and
// needs pairs in its first steps only. Reverse KL seeks modes, which SMSE shows.
//
// For the first `warm_up` steps match = ||d(e) - x_0||^2 alone, while the critic learns to follow. d(e) begins as the
// teacher's estimate at t = 1, the mean of the data whatever e is: a law of no width, from which the direction g leads
// nowhere for long. (The authors of dmd2 regress first in one step too.)
//
// Times: of a smooth field on n x n entries nearly all is known from x_t unless t is within some 1/n of 1
// (process/time_grid.h), so only there do two laws of large scales differ in E[x|x_t]. Uniform times hardly ever fall
// there, and the law of the large scales is lost; quadratic ones do, and are used, between 2 % and 99.8 % of the
// teacher's time span.
//
// dmd2 is the two-time-scale form. Its GAN term, which judges the student against real data to make up for the
// teacher's errors, is off by default and common to all objectives: loss.adversary (adversary.h).
//
// The critic is trained after each step of the student, with the student's new weights.

#include <optional>

#include "piddm/distill/critic.h"
#include "piddm/distill/draws.h"
#include "piddm/distill/pair_pool.h"
#include "piddm/distill/student_objective.h"

namespace piddm {

struct DmdOptions {
  int64_t critic_steps = 1;
  double regression = 0.25;
  int64_t warm_up = 0;
  double critic_lr = 1e-3;

  template <class V>
  void fields(V&& f) {
    f("critic_steps", critic_steps, count_from(1), "steps of the critic for one of the student");
    f("regression", regression, at_least(0),
      "weight of the regression on the teacher's pairs after the warm-up; 0: no pairs");
    f("warm_up", warm_up, count_from(0), "first steps, which follow the teacher's pairs and match no laws yet");
    f("critic_lr", critic_lr, more_than(0), "learning rate of the critic, constant");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"critic.lr", "critic_lr"},
            {"critic", "", "critic_lr is all there is to choose"},
            {"times", "", "always quadratic"},
            {"t_first", "", "always 0.02"},
            {"t_last", "", "always 0.998"}};
  }
};

class Dmd : public StudentObjective {
 public:
  /// `critic` is a copy of the teacher's network.
  Dmd(const Student& student, const Model& model, const Model& teacher, NetworkPtr critic, PairSource& pairs,
      const StudentLossOptions& loss, const DmdOptions& options, int64_t batch, uint64_t seed);

  Loss loss(int64_t step) override;

  bool keeps_state() const override { return true; }
  void advance(int64_t step) override;
  ObjectiveState state() const override;
  void load(const ObjectiveState& state) override;

  /// g for samples x with noise e at times t, [B,C,H,W] without gradient.
  Tensor direction(const Tensor& x, const Tensor& e, const Tensor& t) const;

 private:
  Tensor times(int64_t step, int64_t slot) const;

  Model teacher_;
  Critic critic_;
  DmdOptions options_;
  Draws draws_;
  PairPool pool_;
};

}  // namespace piddm
