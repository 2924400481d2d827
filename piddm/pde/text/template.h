#pragma once
// Texts of PDEs to begin with: what `piddm pde new` writes.

#include <string>
#include <utility>
#include <vector>

namespace piddm {

/// Name and text of each file in examples/pdes, compiled in.
const std::vector<std::pair<std::string, std::string>>& example_pdes();

/// A commented text with this name, complete as it stands; `like` is an example to begin with, or empty. A UsageError
/// for what can be no name and for an unknown example.
std::string new_pde_text(const std::string& name, const std::string& like = "");

}  // namespace piddm
