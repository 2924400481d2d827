#pragma once
// Newton's method for one implicit step of many samples, each on its own: a sample that has converged is left alone, so
// that a result does not depend on its companions.

#include <vector>

#include "piddm/pde/text/linear_solves.h"

namespace piddm {

class TextNewton {
 public:
  /// `first` is the number of the first sample, for messages.
  TextNewton(const TextSystem& system, TextLinearSolves& linear, const Tensor& coefficients, int64_t first);

  /// The unknown level [B,F,X,Y] with system.row(..) = 0, from the guess with the smaller residual. Steps are halved
  /// until the residual falls; the Jacobian is renewed where an iteration does not take nine tenths of it away.
  Tensor advance(const std::vector<Tensor>& guesses, const Tensor& before, int64_t level);

  /// `iterations` of the slowest step, `each` of all steps together.
  SolveReport report() const { return report_; }

 private:
  struct State;
  Tensor row(const Tensor& u) const { return system_.row(u, before_, coefficients_, level_); }
  void renew(State& state);
  Tensor damped(State& state, const Tensor& update);
  void settle(State& state, const Tensor& next);
  [[noreturn]] void fail(const State& state, size_t which) const;

  const TextSystem& system_;
  TextLinearSolves& linear_;
  Tensor coefficients_, before_;
  int64_t first_, level_ = 0;
  std::vector<bool> stale_;
  SolveReport report_;
};

}  // namespace piddm
