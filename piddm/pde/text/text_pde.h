#pragma once
// A PDE made from its text (language/pde_text.h): fields, law, compact second-order residual, solver and decode follow
// from the equation.

#include "piddm/language/pde_text.h"
#include "piddm/pde/pde.h"

namespace piddm {

/// The options of the PDE in this table: its name, its grid, the table as definition.
PdeOptions options_of_text(const json& table, const std::string& origin);

/// What `pde show` says of it.
struct TextPdeSummary {
  std::vector<std::string> equations;       ///< Unicode
  std::string kind;                         ///< "nonlinear, first order in time, one field"
  std::string stencil, solver, residual;    ///< in words
  std::vector<std::string> walls, initial;  ///< as discretised, in words
};

}  // namespace piddm
