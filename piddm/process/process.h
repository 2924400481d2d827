#pragma once
// Diffusion processes x_t = alpha(t) x_0 + sigma(t) e with t = 1 noise and t = 0 data, and every conversion between
// velocity, clean field, noise and score.
//
//   v   = dx_t/dt = alpha' x_0 + sigma' e
//   x_0 = (sigma' x_t - sigma v) / D,   e = (alpha v - alpha' x_t) / D,   D = alpha sigma' - alpha' sigma
//   s   = grad log p_t(x_t) = -e / sigma,   x_0 = (x_t + sigma^2 s) / alpha
//
// The same formulas hold for one trajectory (x_0, e known) and for posterior means E[x_0|x_t], E[e|x_t], which is what
// a trained v and s give.
//
//   linear   alpha = 1-t, sigma = t (rectified flow), so v = e - x_0, x_0 = x_t - t v, e = x_t + (1-t) v
//   vp       alpha = exp(-b/2), sigma = sqrt(1 - exp(-b)), b(t) = int_0^t beta, beta = 0.1 + 19.9 t (Song et al. 2021)
//   sub-vp   alpha as vp, sigma = 1 - exp(-b)
//
// sigma' of vp grows without bound as t -> 0, so vp and sub-vp are sampled and trained on [1e-3, 1]. At t = 1 they keep
// alpha = 6.6e-3 of the data.

#include <memory>
#include <string>

#include "piddm/core/registry.h"
#include "piddm/core/tensor.h"

namespace piddm {

/// alpha, sigma and their time derivatives, each [B,1,1,1].
struct Schedule {
  Tensor alpha, sigma, d_alpha, d_sigma;
};

/// Fields are [B,C,H,W], times [B] or [1] (the same for all).
class Process {
 public:
  virtual ~Process() = default;
  virtual std::string name() const = 0;
  virtual double t_end() const = 0;  ///< where sampling stops: 0, or slightly above where the process is singular there
  virtual Schedule at(const Tensor& t) const = 0;

  Tensor diffuse(const Tensor& x0, const Tensor& e, const Tensor& t) const;
  Tensor velocity(const Tensor& x0, const Tensor& e, const Tensor& t) const;

  /// What a velocity says.
  Tensor clean(const Tensor& x_t, const Tensor& v, const Tensor& t) const;
  Tensor noise(const Tensor& x_t, const Tensor& v, const Tensor& t) const;
  Tensor score(const Tensor& x_t, const Tensor& v, const Tensor& t) const;  ///< needs sigma > 0

  /// The velocity that says this; the inverses of the three above.
  Tensor velocity_from_clean(const Tensor& x_t, const Tensor& x0, const Tensor& t) const;  ///< needs sigma > 0
  Tensor velocity_from_noise(const Tensor& x_t, const Tensor& e, const Tensor& t) const;   ///< needs alpha > 0
  Tensor velocity_from_score(const Tensor& x_t, const Tensor& s, const Tensor& t) const;   ///< needs alpha > 0
};

using ProcessPtr = std::shared_ptr<const Process>;
const Registry<ProcessPtr()>& process_registry();
ProcessPtr linear_process();

}  // namespace piddm
