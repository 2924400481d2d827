#pragma once
// Does what was made of a PDE's text hold? `piddm pde test`.
//
//   order of FIELD         of accuracy against a manufactured solution (pde/text/manufactured.h): at least 1.75, or
//                          errors at round-off, which is where spectral derivatives end. No limit where the equation
//                          is not smooth
//   J v                    of one row of the discrete equations: exact derivative against central differences, and the
//                          table of its entries against it
//   J^T w                  the same by automatic differentiation: <J^T w, v> against <w, J v>
//   gradient of residual   automatic differentiation of what losses use, by solutions and coefficients, against
//                          central differences
//   pde_error, ..          of solved samples in float64
//   decoded samples        against their solutions
//
// Differences are relative. Derivatives are taken beside a solution, by a twentieth of its size.

#include <optional>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/pde/text/text_pde.h"

namespace piddm {

struct SelfCheck {
  std::string name;
  double value = 0;
  std::optional<double> limit = {};  ///< none: for information
  bool at_least = false;             ///< value >= limit, else value <= limit
  std::string note = {};

  bool pass() const;
};

struct SelfTest {
  std::vector<SelfCheck> checks;
  Tensor samples = {};  ///< [B,C,H,W] float64: the solved ones

  bool pass() const;

  /// Names of those that failed.
  std::string failures() const;

  /// [{name, value, limit, at_least, pass, note}]
  json to_json() const;

  /// An aligned table for a person.
  std::string text() const;
};

/// With these coefficients, [B,C_a,H,W]; their values and those of their solutions say what is usual.
SelfTest test_text_pde(const TextPde& pde, const Tensor& coefficients);

}  // namespace piddm
