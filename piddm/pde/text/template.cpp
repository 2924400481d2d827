#include "piddm/pde/text/template.h"

#include "piddm/core/error.h"
#include "piddm/core/fields.h"
#include "piddm/core/toml_text.h"
#include "piddm/language/pde_text.h"

namespace piddm {
namespace {

constexpr const char* kName = "name = \"";

/// NAME stands for the name.
constexpr const char* kTemplate =
    R"toml(# A rod that is heated from within, loses heat to the air and is held warm at one end.
# Change any line, then look at what becomes of it:
#   piddm pde show NAME.toml     equation, walls, stencil, solver, cost
#   piddm pde test NAME.toml     order of accuracy, gradients, floors, a picture of three samples
# docs/pde-language.md has the whole language.
name = "NAME"
title = "Heat in a rod"

# left = right. Derivatives: dt dtt dx dy dxx dxy dyy, lap, grad, div, dot. A coefficient under a derivative makes a
# flux: div(k*grad(u)). Functions: exp log sqrt abs sin cos tan sinh cosh tanh min max where(a < b, yes, no), and + - *
# / ^, the coordinates x y t, pi. For several fields write, at the end of the file, a table instead:
#   [equations]
#   u = "dt(u) = .."
#   v = "dt(v) = .."
equation = "dt(u) = div(k*grad(u)) - loss*(u - air) + q"

# x = [0, end, points, kind] and t = [0, end, times]; or x and y; or x, y and t. Kinds of points: cells (half a cell
# inside the walls), nodes (the first and the last on the walls), periodic (no walls).
grid = { x = [0, 1, 64, "cells"], t = [0, 1, 32] }

# For every wall, x_low x_high y_low y_high or x and y for both: a value "u = 0", a slope outwards "dn(u) = 0", or both,
# "dn(u) + 2*u = 1".
boundary = { x_low = "u = 1", x_high = "dn(u) + 0.5*u = 0" }

# At t = 0; with dtt(u) a list, ["u = u0", "dt(u) = 0"].
initial = "u = u0"

# Constants; --param loss=1 changes them for one command.
parameters = { loss = 0.5, air = 0.2 }

# Optional, for pictures and tables.
units = { x = "m", t = "h" }
titles = { u = "temperature", u0 = "temperature at the start", k = "conductivity", q = "heating" }

# What differs from sample to sample, and how it is drawn: a field from a Gaussian field g (smoother with a larger
# alpha, finer with a larger tau, stronger with a larger scale), a number from a law, or "data: field", "data: scalar"
# where only your own data file has it.
[coefficients]
u0 = "field: gauss(alpha=2, tau=3) -> 0.5 + 0.3*tanh(g)"
k = "field: gauss(alpha=3, tau=5, scale=2) -> 0.1*exp(g)"
q = "uniform(0, 2)"
)toml";

void check_name(const std::string& name) {
  json table = parse_toml(
      "grid = { x = [0, 1, 16, \"cells\"], y = [0, 1, 16, \"cells\"] }\n"
      "equation = \"lap(u) = 0\"\nboundary = { x = \"u = 0\", y = \"u = 0\" }",
      "a new PDE");
  table["name"] = name;
  read_pde_text(table, "a new PDE");
}

std::string named(const std::string& name) {
  static const std::string placeholder = "NAME";
  std::string text = kTemplate;
  for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at + name.size()))
    text.replace(at, placeholder.size(), name);
  return text;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& example_pdes() {
  static const std::vector<std::pair<std::string, std::string>> examples = {
#include "piddm_example_pdes.inc"  // {"name", R"toml(...)toml"}, one for each file, written by CMake
  };
  return examples;
}

std::string new_pde_text(const std::string& name, const std::string& like) {
  check_name(name);
  if (like.empty()) return named(name);
  std::vector<std::string> known;
  for (const auto& [example, text] : example_pdes()) {
    known.push_back(example);
    if (example != like) continue;
    const auto at = text.find(kName + example);
    const auto begin = at + std::string(kName).size();
    return text.substr(0, begin) + name + text.substr(begin + example.size());
  }
  throw UsageError("--like: {}", unknown_name_message("example", like, known));
}

}  // namespace piddm
