#pragma once
// Four standard normals of a Philox block: Box-Muller in double, as on the CPU; the two agree to a few units of double
// rounding.

#include "piddm/cuda/philox.h"

namespace piddm::cuda {

struct Four {
  double value[4];
};

__device__ inline Four uniforms_of(const PhiloxBlock& bits) {
  return {{detail::to_unit(bits[0]), detail::to_unit(bits[1]), detail::to_unit(bits[2]), detail::to_unit(bits[3])}};
}

/// r = sqrt(-2 ln u1), (r cos 2 pi u2, r sin 2 pi u2).
__device__ inline Four normals_of(const PhiloxBlock& bits) {
  const Four u = uniforms_of(bits);
  Four out;
  for (int k = 0; k < 4; k += 2) {
    const double r = sqrt(-2 * log(u.value[k]));
    double sine, cosine;
    sincospi(2 * u.value[k + 1], &sine, &cosine);
    out.value[k] = r * cosine;
    out.value[k + 1] = r * sine;
  }
  return out;
}

}  // namespace piddm::cuda
