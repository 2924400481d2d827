#pragma once
// Consistency distillation (Song et al. 2023): one map f takes every point of a trajectory of the teacher to the same
// end.
//
//   f(x, t) = x + w(t) (E[x_0|x, t] - x),   w = (1 - (sigma_0/sigma)^2) / (1 - (sigma_0/sigma_1)^2)
//
// with sigma_0 = sigma(t_end), sigma_1 = sigma(1) and E the clean estimate of the network: f(x, t_end) = x whatever the
// network says (the boundary condition), and f(e, 1) is the student without its heads. On N equal intervals
// t_0 = t_end < ... < t_N = 1,
//
//   match = 1/2 dist(f(x, t_i), sg f'(x', t_{i-1}))_{0<i<N} + 1/2 dist(d(e), sg f'(e', t_{N-1}))
//
// where x' and e' are one Heun step of the teacher's ODE from x and e, and f' is f with a moving average of the
// student's weights (the target, which follows after each step). x is one of the teacher's samples (its pairs, fresh
// noise). The last interval has a term of its own because it is the one the student is used on: its output there goes
// through the heads, and the physics of that output is what counts.

#include "piddm/distill/draws.h"
#include "piddm/distill/pair_pool.h"
#include "piddm/distill/student_objective.h"

namespace piddm {

struct ConsistencyOptions {
  int64_t intervals = 20;
  double target_ema = 0.95;  ///< decay of the target's weights per step; no key of a config

  template <class V>
  void fields(V&& f) {
    f("intervals", intervals, count_from(2), "N: intervals of time between noise and data");
  }
  static std::vector<FormerKey> former_keys() { return {{"target_ema", "", "always 0.95"}}; }
};

class Consistency : public StudentObjective {
 public:
  /// `target` is a copy of the student's network.
  Consistency(const Student& student, const Model& model, const Model& teacher, NetworkPtr target, PairSource& pairs,
              const StudentLossOptions& loss, const ConsistencyOptions& options, int64_t batch, uint64_t seed);

  Loss loss(int64_t step) override;
  std::optional<double> validate() override { return judge(pool_); }

  bool keeps_state() const override { return true; }
  void advance(int64_t step) override;
  ObjectiveState state() const override;
  void load(const ObjectiveState& state) override;

  /// f(x, t) with this network; t is [B] or [1].
  Tensor map(Network& network, const Tensor& x, const Tensor& t) const;

 private:
  Tensor time(const Tensor& interval) const;
  Tensor target_of(const Tensor& x, const Tensor& interval) const;

  Model teacher_;
  NetworkPtr target_;
  ConsistencyOptions options_;
  Draws draws_;
  PairPool pool_;
};

}  // namespace piddm
