#pragma once
// A low-pass of the solution channels of samples: what a generator's PDE error is made of where it lies in waves that
// cost nothing to remove. A control beside a student's smooth head, which has the same modes.
//
//   u <- T^-1 F T u,   T   sine modes where u vanishes on the wall or the outer ring; else along each axis Fourier
//                          modes where it is periodic and cosine modes where it is not
//                      F   smooth: (1 + lambda/lambda_c)^-1, the smooth head's; sharp: 1 up to lambda_c, then 0
//
// lambda: the eigenvalue of a mode in the five-point Laplacian of a unit square; lambda_c = (pi modes)^2.

#include "piddm/solve/method.h"

namespace piddm {

enum class FilterForm { smooth, sharp };
inline std::vector<std::string> enum_names(FilterForm) { return {"smooth", "sharp"}; }

struct SolutionFilter {
  FilterForm form = FilterForm::sharp;
  double modes = 32;
  template <class V>
  void fields(V&& f) {
    f("form", form, "smooth: that of the smooth head, or sharp");
    f("modes", modes, more_than(0), "cut-off, in half waves over the domain");
  }
};

/// x [B,C,H,W] with its solution channels filtered, float64.
Tensor smooth_solution(const Tensor& x, const Pde& pde, const SolutionFilter& filter);

/// The same with samples, and adds the time it took.
void smooth_samples(Samples& samples, const Pde& pde, const SolutionFilter& filter);

}  // namespace piddm
