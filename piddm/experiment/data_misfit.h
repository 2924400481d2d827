#pragma once
// Whether the data of a training obey the PDE they are said to be of.

#include <string>

#include "piddm/data/dataset.h"

namespace piddm {

/// "pde_error 0.31, where solutions of [fisher] for the same coefficients have 2.2e-07": of a few samples, where theirs
/// is more than four times as large; empty: it is not, or they cannot be solved again.
std::string data_misfit(const Dataset& data, const Pde& pde);

}  // namespace piddm
