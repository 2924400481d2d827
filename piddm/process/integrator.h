#pragma once
// Integrators of dx/dt = v(x, t) from noise at t = 1 down to data at t_end.
//
//   euler      x_{t-dt} = x_t - dt v(x_t, t); order 1, one evaluation per step
//   heun       the mean of v at both ends of the Euler step, in the last step Euler's; order 2, two evaluations per
//              step but one in the last
//   adaptive   Dormand and Prince's embedded pair 5(4) ("A family of embedded Runge-Kutta formulae", 1980) with steps
//              chosen so that the difference of the two, in the norm RMS(error / (tolerance (1 + |x|))) of the worst
//              sample, stays below 1
//
// Why the last step of heun is Euler's: at t = 0 the mean of the noise given x is 0, so v there no longer sees what is
// left of it, and the mean of both ends would leave half of it in the sample: white noise of size dt/2, which a
// residual amplifies.
//
// All are differentiable with respect to whatever v and x depend on (the choice of steps is not differentiated); the
// caller sets the grad mode. The samples of a batch share their times, so an adaptive result depends on its companions
// within the tolerance.

#include <functional>

#include "piddm/core/fields.h"
#include "piddm/core/tensor.h"
#include "piddm/process/time_grid.h"

namespace piddm {

/// v(x, t); t is [1], the same for the batch.
using VelocityField = std::function<Tensor(const Tensor& x, const Tensor& t)>;

enum class IntegratorKind { euler, heun, adaptive };
inline std::vector<std::string> enum_names(IntegratorKind) { return {"euler", "heun", "adaptive"}; }

struct IntegratorOptions {
  IntegratorKind kind = IntegratorKind::euler;
  int64_t steps = 100;                 ///< of euler and heun
  double tolerance = 1e-5;             ///< error of a step of adaptive, relative to 1 + |x|
  Spacing spacing = Spacing::uniform;  ///< of the times of euler and heun
};

struct Integration {
  Tensor x;                            ///< at t_end
  int64_t evaluations = 0;             ///< calls of v
  int64_t accepted = 0, rejected = 0;  ///< steps
};

/// From x at t_begin to t_end < t_begin. Steps that shrink to nothing (a velocity that is not finite, or a singular
/// end) are a NumericsError.
Integration integrate(const VelocityField& v, const Tensor& x, const IntegratorOptions& options, double t_end = 0,
                      double t_begin = 1);

/// The same step by step, for callers that record a step and play it back: the times [steps,3], rows t, t - dt, dt, in
/// the type of `like`; the kind of step i, euler or heun; the step over one row.
Tensor step_times(const TimeGrid& times, const Tensor& like);
inline IntegratorKind step_kind(const IntegratorOptions& o, int64_t i) {
  return i + 1 < o.steps ? o.kind : IntegratorKind::euler;
}
Tensor fixed_step(IntegratorKind kind, const VelocityField& v, const Tensor& x, const Tensor& times);

/// Evaluations of one step, and of all.
inline int64_t evaluations_of_step(IntegratorKind kind) { return kind == IntegratorKind::heun ? 2 : 1; }
inline int64_t evaluations_of(IntegratorKind kind, int64_t steps) {
  return kind == IntegratorKind::heun ? 2 * steps - 1 : steps;
}

/// Euler from t = 1 to t_end in `steps` equal steps.
Tensor integrate_euler(const VelocityField& v, const Tensor& noise, int64_t steps, double t_end = 0);

}  // namespace piddm
