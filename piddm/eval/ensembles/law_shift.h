#pragma once
// True samples of a law that is wrong by a factor of two, made from those of the right one.
//
//   roughness   coefficient fields with half the correlation length: every second entry along each axis, reflected in
//               the middle of the domain
//   contrast    coefficients twice as far from their mean over all samples; the two values of a two-valued one with
//               twice their ratio (of values that are not positive: twice their distance)
//
// and the solution for these coefficients (Pde::decode, which refuses where a PDE has none).

#include "piddm/pde/pde.h"

namespace piddm {

enum class LawShift { roughness, contrast };
inline std::vector<std::string> enum_names(LawShift) { return {"roughness", "contrast"}; }

/// Of samples [n,C,H,W], n > 0; float64.
Tensor shifted(const Tensor& truth, LawShift shift, const Pde& pde);

}  // namespace piddm
