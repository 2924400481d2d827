#pragma once
// A PDE as a user names it: one of the registry, or the file of its text (language/pde_text.h), which stands wherever
// a name does. What the file says becomes the definition in the options and travels with them: data, models and runs
// need the file no more.

#include <string>

#include "piddm/pde/pde.h"

namespace piddm {

/// Of a PDE's file; models and data files carry it.
constexpr size_t kMaxPdeFileBytes = size_t{64} << 10;

/// Whether this names a file: it ends in .toml.
bool names_file(const std::string& name);

/// Whether a table is the text of a PDE rather than an experiment: it has `equation` or `equations`.
bool is_pde_text(const json& table);

/// The PDE called `name`, or the one in the file `name`. A DataError for a file that is not there, a UsageError for one
/// that is no PDE and for a name of neither, with the nearest one.
PdeOptions pde_named(const std::string& name);

/// The section [pde] of a config, written out: a `file`, a `name` that is one, or a `definition` gives the name and the
/// grid that the section does not, and the definition. Other sections come back as they are.
json resolved_pde(json section);

/// The same section with its file looked for beside the config, as its other files are.
void find_pde_beside(json& section, const std::string& config);

/// How the definitions of two PDEs of one name differ in what they mean ("equation is ..., not ..."); empty: they do
/// not. Numbers of points and values of parameters are no part of it, nor are titles and units.
std::string definition_difference(const std::string& name, const PdeDefinition& ours, const PdeDefinition& theirs);

/// How two PDEs differ, whatever their grids and parameters; empty: they are the same.
std::string pde_difference(const PdeOptions& ours, const PdeOptions& theirs);

}  // namespace piddm
