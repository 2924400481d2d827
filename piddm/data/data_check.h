#pragma once
// Is a data set what it says it is? Recomputes from the values themselves, in float64.

#include <string>

#include "piddm/data/dataset.h"

namespace piddm {

/// {"pass": bool, "n": N, "channels": [{name, min, max, mean, std}], "checks": [{name, value, limit, pass, note}]}
///
///   non-finite values                  0
///   other values of a two-valued channel 0
///   not constant in a scalar channel   0
///   pde_error, rel_residual (all samples, worst sample)   twice the floor of the description; without one no limit
///   hard constraint                    mean((C(x)-x)^2) / mean(x^2) of the worst solution channel, at most 1e-2
///   re-solve                           mse(u - u*(a)) / mean(u^2) on the first 16 samples, at most 1e-4
///
/// A null limit is a value for information. With non-finite values the rest is not computed.
json check_dataset(const Dataset& dataset, const Pde& pde);

/// The same as an aligned table for a person.
std::string format_check(const json& check);

}  // namespace piddm
