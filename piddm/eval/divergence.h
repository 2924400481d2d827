#pragma once
// Which scores say that a run diverged.
//
// A run has diverged where its numbers tell nothing but that: an error that is not finite, a mean square error of
// fields (mmse, smse, solution_error, mse of a channel) beyond 100 variances of the data, where two true samples differ
// by 2, or a residual beyond 1e5 times the terms of the equation (rel_residual), where white noise of the size of the
// data has thousands on a fine grid. Every writer then has "diverged" in the place of the numbers that judge it; files
// of results keep them.

#include <string>

#include "piddm/eval/ensembles/scores.h"

namespace piddm {

/// What stands in the place of numbers that tell nothing.
inline constexpr const char* kDiverged = "diverged";

/// Which of these scores says that the run diverged, as a sentence without its number; empty: none does.
std::string divergence(const Scores& scores);

/// The value of a metric for people: a number, `absent` where there is none, or kDiverged where the run has, unless the
/// metric tells its work.
std::string score_text(const Scores& scores, const std::string& metric, bool diverged, const std::string& absent = "");

}  // namespace piddm
