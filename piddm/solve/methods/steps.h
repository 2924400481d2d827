#pragma once
// The steps of a teacher from noise at t = 1 to the end of its process, as samplers take them one by one: times,
// velocities, Euler's update and the clean estimate.

#include <algorithm>

#include "piddm/model/model.h"
#include "piddm/process/time_grid.h"

namespace piddm {

/// The keys of every method that goes through such steps.
template <class V>
void step_fields(V&& f, int64_t& steps, Spacing& spacing) {
  f("steps", steps, count_from(1), "steps from noise to sample");
  f("spacing", spacing, "times of the steps: uniform, or quadratic: short ones at the noisy end (process/time_grid.h)");
}

/// A number of steps or iterations under the paper's compute-matched settings.
inline int64_t compute_share(int64_t count, int64_t part, int64_t of) {
  return std::max<int64_t>(1, count * part / of);
}

/// `options` with as many steps as there are evaluations for, where a step takes `per_step` of them.
template <class Options>
Options with_steps(Options options, int64_t evaluations, int64_t per_step = 1) {
  options.steps = std::max<int64_t>(1, evaluations / per_step);
  return options;
}

class TeacherSteps {
 public:
  TeacherSteps(const Model& model, int64_t steps, Spacing spacing)
      : network_(model.network), process_(model.process), times_(steps, spacing, model.process->t_end()) {}

  int64_t count() const { return times_.steps(); }
  double dt(int64_t i) const { return times_.step(i); }

  /// t_i, [1] in the type of `like`.
  Tensor time(int64_t i, const Tensor& like) const {
    return torch::full({1}, times_.at(i), like.options().requires_grad(false));
  }

  /// v(x, t_i).
  Tensor velocity(const Tensor& x, int64_t i) const { return (*network_)(x, time(i, x)); }

  /// x at t_{i+1} by Euler's step.
  Tensor euler(const Tensor& x, const Tensor& v, int64_t i) const { return x - v * times_.step(i); }

  /// What x and v at t_i say of the sample.
  Tensor clean(const Tensor& x, const Tensor& v, int64_t i) const { return process_->clean(x, v, time(i, x)); }

 private:
  NetworkPtr network_;
  ProcessPtr process_;
  TimeGrid times_;
};

}  // namespace piddm
