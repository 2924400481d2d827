#pragma once
// The rivals on toys: posterior-mean guidance (DPS) and extrapolate-correct-interpolate (ECI) for any network and
// process, Euler steps from t = 1.

#include "piddm/model/network.h"
#include "piddm/process/integrator.h"
#include "piddm/process/process.h"

namespace piddm {

/// A loss of clean samples [B,C,H,W] -> [B], or a map of them onto a constraint.
using SampleLoss = std::function<Tensor(const Tensor& x0)>;
using ToyProjection = std::function<Tensor(const Tensor& x0)>;

/// What the weight of the guidance multiplies: grad loss once per step (Chung et al. 2023), so that its strength grows
/// with the number of steps, or the velocity, so that it does not: per_step w is per_time w / dt.
enum class GuidanceUnit { per_step, per_time };
inline std::vector<std::string> enum_names(GuidanceUnit) { return {"per_step", "per_time"}; }

/// v_DPS(x, t) = v(x, t) + weight grad_x loss(x0^(x, t)),  x0^ the clean estimate that v gives; through the network, no
/// gradient remains.
Tensor guided_velocity(Network& network, const Process& process, const SampleLoss& loss, double weight, const Tensor& x,
                       const Tensor& t);

struct ToyGuidance {
  int64_t steps = 1000;
  double weight = 1;
  GuidanceUnit unit = GuidanceUnit::per_step;
  double t_end = 1e-3;

  /// The weight of guided_velocity that goes with it.
  double per_time() const;
};

/// Euler along the guided velocity.
Tensor sample_guided(Network& network, const Process& process, const SampleLoss& loss, const ToyGuidance& options,
                     const Tensor& noise);

/// The noise ECI interpolates with: that of the start, fresh in every step, or the one the network sees in x_t.
enum class ToyEciNoise { fixed, resample, ddim };
inline std::vector<std::string> enum_names(ToyEciNoise) { return {"fixed", "resample", "ddim"}; }

/// x_{t'} = alpha(t') C(x0^(x_t, t)) + sigma(t') e; the last step returns C(x0^) itself. Fresh noise of Stream::noise.
Tensor sample_eci(Network& network, const Process& process, const ToyProjection& project, ToyEciNoise mode,
                  int64_t steps, const Tensor& noise, uint64_t seed);

}  // namespace piddm
