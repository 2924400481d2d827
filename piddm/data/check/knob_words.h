#pragma once
// A fitted number as a cause, and how plausible it is beside others that explain the data as well.

#include "piddm/data/check/knob.h"
#include "piddm/data/check/suspicion.h"

namespace piddm {

constexpr int kImplausible = 20;  ///< from this rank on only where nothing else explains the data

Cause knob_cause(const Reading& reading, const Knob& knob, double value, const std::string& file);

/// 2 a sign, 3 a parameter, 4 a factor on a solution, 5 a length, 6 a factor on a coefficient, 7 an offset. A factor on
/// a coefficient that takes it from the PDE's law (or its two values) is implausible, one that brings it there has 3.
int knob_rank(const Reading& reading, const Knob& knob, double value);

}  // namespace piddm
