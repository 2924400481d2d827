#pragma once
// Six of the library's PDEs written as text. Darcy, Poisson and Helmholtz have the same stencil as the library's; of
// the others the built-in residual takes central differences in time, the text BDF2. Tests hold them against each other
// too.

#include <vector>

namespace piddm::bench {

struct BuiltInText {
  const char* name;  ///< in the registry
  const char* toml;
  double sign;  ///< of the text's residual to the library's
};

/// Each with the library's constants.
inline const std::vector<BuiltInText>& builtin_texts() {
  static const std::vector<BuiltInText> texts = {{"darcy",  // name: its own text
                                                  R"toml(
name = "darcy-text"
equation = "-div(a*grad(u)) = 1"
grid = { x = [0, 1, 32, "cells"], y = [0, 1, 32, "cells"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "field: gauss(alpha=2, tau=3) -> where(g >= 0, 12, 3)" }
)toml",
                                                  -1},
                                                 {"poisson",  // name: its own text
                                                  R"toml(
name = "poisson-text"
equation = "lap(u) = a"
grid = { x = [0, 1, 32, "nodes"], y = [0, 1, 32, "nodes"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "field: gauss(alpha=2, tau=3)" }
)toml",
                                                  1},
                                                 {"helmholtz",  // name: its own text
                                                  R"toml(
name = "helmholtz-text"
equation = "lap(u) + k^2*u = a"
grid = { x = [0, 1, 32, "nodes"], y = [0, 1, 32, "nodes"] }
boundary = { x = "u = 0", y = "u = 0" }
parameters = { k = 1 }
coefficients = { a = "field: gauss(alpha=2, tau=3)" }
)toml",
                                                  1},
                                                 {"burgers",  // name: its own text
                                                  R"toml(
name = "burgers-text"
equation = "dt(u) + u*dx(u) = nu*lap(u)"
grid = { x = [0, 1, 32, "periodic"], t = [0, 1, 32] }
initial = "u = a"
parameters = { nu = 0.01 }
coefficients = { a = "field: periodic(alpha=2.5, tau=7)" }
)toml",
                                                  1},
                                                 {"heat",  // name: its own text
                                                  R"toml(
name = "heat-text"
equation = "dt(u) = alpha*lap(u)"
grid = { x = [0, 6.283185307179586, 32, "periodic"], t = [0, 1, 32] }
initial = "u = sin(x + phi)"
parameters = { alpha = 3 }
coefficients = { phi = "uniform(0, pi)" }
)toml",
                                                  1},
                                                 {"stokes",  // name: its own text
                                                  R"toml(
name = "stokes-text"
equation = "dt(u) = omega/(2*k^2)*lap(u)"
grid = { x = [0, 1, 32, "nodes"], t = [0, 1, 32] }
boundary = { x_low = "u = A*cos(omega*t)", x_high = "u = A*exp(-k)*cos(k - omega*t)" }
initial = "u = A*exp(-k*x)*cos(k*x)"
parameters = { A = 2, k = 5 }
coefficients = { omega = "uniform(2, 8)" }
)toml",
                                                  1}};
  return texts;
}

}  // namespace piddm::bench
