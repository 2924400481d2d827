#pragma once
// Samples against the reference solution of their own coefficients, u*(a): how far u is from it, and how much larger
// residual, boundary error and constraint error are than those of u*(a) itself, stored in float32. Each sample is its
// own yardstick, so a steep or rough sample raises no false alarm, and one bad sample of thousands is seen.

#include <string>
#include <vector>

#include "piddm/data/statistics.h"

namespace piddm {

/// One number for each of `samples`: [K] float64. A sample that cannot be solved has infinite scores.
struct OwnFloor {
  std::vector<int64_t> samples = {};
  Tensor distance = {};  ///< RMS(u - u*) / RMS(u*), the worst solution channel
  Tensor point = {};     ///< max|u - u*| / RMS(u*), the worst solution channel
  Tensor residual =
      {};  ///< RMS(r_phys) over that of u*(a), at all scored points or the smooth ones: the larger one, of
           ///< several equations the largest
  Tensor boundary = {};    ///< RMS boundary error over that of u*(a); 0 for a PDE without
  Tensor constraint = {};  ///< RMS(C(x) - x) over that of u*(a)

  ResidualStatistics floor = {};  ///< of the u*(a) themselves; nothing of samples that cannot be solved
  std::string failure = {};       ///< why the first such sample could not be solved
};

/// RMS(C(x) - x) of the solution channels over their RMS, C the PDE's hard constraint: [N].
Tensor constraint_error(const Pde& pde, const Tensor& fields);

/// x with the solution for its own admissible coefficients, as a float32 file would hold it, in float64.
Tensor reference_samples(const Pde& pde, const Tensor& x);

/// `samples` are indices into fields = [N,C,H,W], finite. Errors below 1e-6 of the solution (1e-7 of the reference term
/// for the residual) are not told from zero. Can be interrupted.
OwnFloor compare_with_references(const Pde& pde, const Tensor& fields, const std::vector<int64_t>& samples);

}  // namespace piddm
