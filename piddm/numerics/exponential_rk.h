#pragma once
// One step of the exponential Runge-Kutta method ETDRK4 for v_t = L v + N(v), L real and diagonal, v complex (Fourier
// modes). The linear part is exact, however stiff; order 4 in the step h for smooth solutions.
//
//   a = e^{z/2} v + Q N(v)      b = e^{z/2} v + Q N(a)      c = e^{z/2} a + Q (2 N(b) - N(v))        z = h L
//   v' = e^z v + f1 N(v) + f2 (N(a) + N(b)) + f3 N(c)
//   Q = h/2 phi1(z/2)   f1 = h (phi1 - 3 phi2 + 4 phi3)   f2 = h (2 phi2 - 4 phi3)   f3 = h (4 phi3 - phi2)
//   phi_k(z) = sum_j z^j / (j+k)!
//
// Cox and Matthews, "Exponential time differencing for stiff systems", J. Comput. Phys. 176 (2002). The phi_k are
// evaluated without cancellation (series for |z| < 1, recurrence beyond), not as the differences of the original.

#include <functional>

#include "piddm/core/tensor.h"

namespace piddm {

/// phi_1, phi_2, phi_3 of z <= 0 (float64), stacked on a new first axis; relative error below 1e-14.
Tensor phi_functions(const Tensor& z);

class ExponentialRk4 {
 public:
  /// `linear` holds L <= 0 as float64, broadcastable to the modes; `dtype` is that of the modes (complex64,
  /// complex128).
  ExponentialRk4(const Tensor& linear, double step, torch::ScalarType dtype = torch::kComplexDouble);

  /// The same step for modes of another dtype and device.
  ExponentialRk4 to(torch::Device device, torch::ScalarType dtype) const;

  /// v' for v = [...,modes]; differentiable if N is.
  Tensor step(const Tensor& v, const std::function<Tensor(const Tensor&)>& nonlinear) const;

 private:
  Tensor decay_, half_decay_, q_, twice_q_, f1_, f2_, f3_;
};

}  // namespace piddm
