#pragma once
// Diffusion processes x_t = alpha(t) x_0 + sigma(t) e with t = 1 noise and t = 0 data, and every conversion between velocity, clean field and noise.
//
//   v   = dx_t/dt = alpha' x_0 + sigma' e
//   x_0 = (sigma' x_t - sigma v) / D,   e = (alpha v - alpha' x_t) / D,   D = alpha sigma' - alpha' sigma
//
// Linear (rectified flow): alpha = 1-t, sigma = t, so v = e - x_0, x_0 = x_t - t v, e = x_t + (1-t) v.

#include <functional>
#include <memory>
#include <string>

#include "piddm/core/registry.h"
#include "piddm/core/tensor.h"

namespace piddm {

/// alpha, sigma and their time derivatives, each [B,1,1,1].
struct Schedule {
  Tensor alpha, sigma, d_alpha, d_sigma;
};

class Process {
 public:
  virtual ~Process() = default;
  virtual std::string name() const = 0;
  virtual double t_end() const = 0;  ///< where sampling stops: 0, or slightly above where the process is singular there
  virtual Schedule at(const Tensor& t) const = 0;

  Tensor diffuse(const Tensor& x0, const Tensor& e, const Tensor& t) const;
  Tensor velocity(const Tensor& x0, const Tensor& e, const Tensor& t) const;
  Tensor clean(const Tensor& x_t, const Tensor& v, const Tensor& t) const;
  Tensor noise(const Tensor& x_t, const Tensor& v, const Tensor& t) const;
};

using ProcessPtr = std::shared_ptr<const Process>;
const Registry<ProcessPtr()>& process_registry();

/// v(x, t); t is [1], the same for the batch.
using VelocityField = std::function<Tensor(const Tensor& x, const Tensor& t)>;

/// Euler from t = 1 to t_end in `steps` equal steps: x_{t-dt} = x_t - v(x_t, t) dt. Differentiable; the caller sets the grad mode.
Tensor integrate_euler(const VelocityField& v, const Tensor& noise, int64_t steps, double t_end = 0);

}  // namespace piddm
