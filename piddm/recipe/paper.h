#pragma once
// The paper's generative metrics (its Table 1 and its table of six further PDEs), for orientation beside our own. Its units of pde_error and of
// the statistical errors are its own: compare ratios between methods.

#include <string>

#include "piddm/core/fields.h"

namespace piddm {

/// {"teacher": {mmse, smse, pde_error, nfe}, "piddm-1": {...}, "piddm-ref": {...}} of this PDE; null for a PDE the paper does not have.
json paper_generative_rows(const std::string& pde);

}  // namespace piddm
