#pragma once
// A PDE's text in words: what `piddm pde show` prints besides numbers. TextPdeSummary and summary_of stand in
// text_pde.h.

#include <string>

#include "piddm/pde/text/text_pde.h"

namespace piddm {

/// "uniform between 0.001 and 0.01"; "0.5 + 0.5 tanh(g), g Gaussian of cosines, alpha 2, tau 3".
std::string law_in_words(const CoefficientText& coefficient);

}  // namespace piddm
