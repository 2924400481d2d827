#pragma once
// What the tests of PDEs as text share: systems from a few lines, fixed fields, orders of accuracy.

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "piddm/core/toml_text.h"
#include "piddm/pde/text/solver.h"
#include "tests/testing.h"

namespace piddm::testing {

/// The text of a PDE with its parameters as numbers.
inline PdeText pde_text(const std::string& toml) {
  const auto text = read_pde_text(parse_toml(toml, "test.toml"), "test.toml");
  return with_numbers(text, text.parameters);
}

inline std::shared_ptr<const TextSystem> system_of(const std::string& toml, std::array<int64_t, 2> points) {
  return std::make_shared<TextSystem>(pde_text(toml), points);
}

/// float64 numbers without pattern, of size about 1; different seeds, different numbers.
inline Tensor numbers(const std::vector<int64_t>& size, double seed = 0) {
  int64_t count = 1;
  for (const int64_t n : size) count *= n;
  const Tensor i = torch::arange(count, torch::kFloat64) + 1;
  return torch::sin(i * i * 0.7 + i * (1.3 + seed) + seed).view(size);
}

/// Fields [B,F,L,X,Y] of this system.
inline Tensor state_like(const TextSystem& system, int64_t batch, int64_t levels, double seed = 0) {
  return numbers({batch, system.fields(), levels, system.points()[0], system.points()[1]}, seed);
}

/// Coefficients [B,C_a,X,Y] between 1 and 3, scalars constant.
inline Tensor coefficients_like(const TextSystem& system, int64_t batch, double seed = 0) {
  const auto count = static_cast<int64_t>(system.text().coefficients.size());
  const Tensor a = numbers({batch, count, system.points()[0], system.points()[1]}, seed) + 2;
  for (int64_t c = 0; c < count; ++c)
    if (system.text().coefficients[static_cast<size_t>(c)].scalar)
      a.select(1, c).copy_(a.select(1, c).narrow(1, 0, 1).narrow(2, 0, 1).expand_as(a.select(1, c)).clone());
  return a;
}

/// Coordinates of the points, [X,1] and [1,Y].
inline std::pair<Tensor, Tensor> coordinates_of(const TextSystem& system) {
  const auto& axes = system.grid().axes();
  return {axes[0].coordinates(Site::points).view({-1, 1}), axes[1].coordinates(Site::points).view({1, -1})};
}

inline double largest(const Tensor& x) { return x.abs().max().item<double>(); }
inline double rms(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

/// Errors on four grids of factor 1, 2, 4, 8 fall by 2^order, to a quarter of an order in the last two.
inline void expect_order(double order, const std::function<double(int64_t)>& error) {
  double coarse = error(1);
  for (const int64_t factor : {2, 4, 8}) {
    const double fine = error(factor);
    if (factor > 2) {
      EXPECT_NEAR(std::log2(coarse / fine), order, 0.25) << coarse << " to " << fine << ", factor " << factor;
    }
    coarse = fine;
  }
}

}  // namespace piddm::testing
