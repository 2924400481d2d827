#pragma once
// The parts of a PDE file, read one by one (pde_text.cpp has the order). `origin` is the file, for errors.

#include <optional>
#include <string>
#include <vector>

#include "piddm/language/lowering.h"
#include "piddm/language/pde_text.h"

namespace piddm::reading {

/// "fisher.toml: boundary.x"
std::string place(const std::string& origin, const std::string& key);

/// A UsageError where `table` is no table or has another key.
void check_keys(const json& table, const std::vector<std::string>& known, const std::string& where,
                const std::string& what);

double number_at(const json& value, const std::string& where);
std::string string_at(const json& value, const std::string& where);

/// One text or a list of texts.
std::vector<SourceText> texts_at(const json& value, const std::string& where);

/// A name in letters, digits and '_' that is not taken by a function, an axis or `pde`.
void check_name(const std::string& name, const PdeText& pde, const std::string& where);

/// "x"
const char* letter(Coordinate axis);

/// Everything that has a name so far, on the axes of the PDE.
Scope scope_of(const PdeText& pde);

std::vector<AxisText> read_axes(const json& grid, const std::string& origin);

/// `pde` has its axes and parameters.
CoefficientText read_coefficient(const std::string& name, const json& law, const PdeText& pde,
                                 const std::string& origin);

/// Solutions and equations; `pde` has everything else that has a name.
void read_equations(const json& table, PdeText& pde, const std::string& origin);

/// `boundary` and `initial` may be missing (null); `pde` has its equations.
std::vector<WallText> read_walls(const json& boundary, const PdeText& pde, const std::string& origin);
std::vector<InitialText> read_initial(const json& initial, const PdeText& pde, const std::string& origin);

}  // namespace piddm::reading
