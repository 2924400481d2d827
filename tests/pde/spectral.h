#pragma once
// What the tests of the two spectral PDEs share.

#include <fstream>
#include <numbers>
#include <vector>

#include "piddm/pde/pde.h"
#include "tests/testing.h"

namespace piddm::testing {

constexpr double kTwoPi = 2 * std::numbers::pi;

/// x_j = j/n.
inline Tensor periodic_points(int64_t n) { return torch::arange(n, torch::kFloat64) / static_cast<double>(n); }

/// The numbers of a golden text file.
inline Tensor golden_numbers(const std::string& name) {
  std::ifstream file(golden(name));
  std::vector<double> values;
  for (double value = 0; file >> value;) values.push_back(value);
  return torch::tensor(values, torch::kFloat64);
}

struct Threads {
  explicit Threads(int count) : before(torch::get_num_threads()) { torch::set_num_threads(count); }
  ~Threads() { torch::set_num_threads(before); }
  int before;
};

inline Tensor sample_in_batches(const Pde& pde, int64_t count, int64_t batch) {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < count; i += batch) parts.push_back(pde.sample(5, 100 + i, std::min(batch, count - i)));
  return torch::cat(parts);
}

/// Bits of samples for batches of 1, 3 and 8 and for 1 and 2 threads.
inline void expect_same_bits(const Pde& pde) {
  Tensor expected;
  for (const auto& [threads, batch] : {std::pair{1, 8}, {1, 3}, {2, 1}}) {
    const Threads guard(threads);
    const Tensor x = sample_in_batches(pde, 8, batch);
    if (!expected.defined()) expected = x;
    EXPECT_TRUE(torch::equal(x, expected)) << threads << " threads, batches of " << batch;
  }
}

inline double median_error(const Pde& pde, const Tensor& x) { return pde.pde_error(x).median().item<double>(); }

inline double rel_residual(const Pde& pde, const Tensor& x) {
  return (pde.residual(x).fields[0].interior.square().mean() / pde.residual(x).fields[0].reference.square().mean())
      .sqrt()
      .item<double>();
}

inline double largest_difference(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

}  // namespace piddm::testing
