#pragma once
// PDE files, each a good one with some keys changed.

#include <map>
#include <string>

#include "piddm/core/toml_text.h"
#include "piddm/language/pde_text.h"
#include "tests/testing.h"

namespace piddm::testing {

/// Keys and what stands behind '='; an empty text removes the key.
using Keys = std::map<std::string, std::string>;

inline PdeText read_keys(Keys keys, const Keys& changes) {
  for (const auto& [key, value] : changes) keys[key] = value;
  std::string text;
  for (const auto& [key, value] : keys)
    if (!value.empty()) text += key + " = " + value + "\n";
  return read_pde_text(parse_toml(text, "f.toml"), "f.toml");
}

/// One field in x and t.
inline PdeText read_line(const Keys& changes = {}) {
  return read_keys({{"name", "'fisher'"},
                    {"equation", "'dt(u) = D*lap(u) + r*u*(1 - u)'"},
                    {"grid", "{ x = [0, 2, 64, 'cells'], t = [0, 1, 33] }"},
                    {"boundary", "{ x = 'dn(u) = 0' }"},
                    {"initial", "'u = u0'"},
                    {"parameters", "{ r = 2 }"},
                    {"coefficients", "{ u0 = 'field: gauss(alpha=2, tau=3)', D = 'uniform(0.001, 0.01)' }"}},
                   changes);
}

/// One field in x and y.
inline PdeText read_plane(const Keys& changes = {}) {
  return read_keys({{"name", "'flow'"},
                    {"equation", "'-div(a*grad(u)) = f'"},
                    {"grid", "{ x = [0, 1, 32, 'cells'], y = [0, 1, 16, 'nodes'] }"},
                    {"boundary", "{ x = 'u = 0', y = 'u = 0' }"},
                    {"parameters", "{ f = 1 }"},
                    {"coefficients", "{ a = 'field: gauss(alpha=2, tau=3) -> exp(g)' }"}},
                   changes);
}

/// A law of the coefficient a.
inline CoefficientText read_law(const std::string& law, const Keys& changes = {}) {
  auto keys = changes;
  keys["coefficients"] = "{ a = '" + law + "' }";
  return *read_plane(keys).coefficient("a");
}

/// Each is refused with this message, behind "f.toml".
#define EXPECT_REFUSED(statement, message) EXPECT_ERROR(statement, ExitCode::usage, std::string("f.toml") + (message))

}  // namespace piddm::testing
