#pragma once
// The precision of a network's arithmetic as an option.

#include <string>
#include <vector>

#include "piddm/cuda/built.h"

namespace piddm {

using cuda::Precision;

}  // namespace piddm

namespace piddm::cuda {

inline std::vector<std::string> enum_names(Precision) { return {"fp32", "tf32", "bf16"}; }

}  // namespace piddm::cuda
