#pragma once
// Simulation-based calibration: if truth and members of a case are draws of one law, the rank of the truth among its K
// members, 0..K, is uniform, of any quantity of a sample. One rank per case and quantity, so that they are independent:
//
//   mean, size   mean and root mean square over the unknown entries
//   point        the value at one unknown entry, another for each case
//
// chi^2 over bins of about equally many ranks says whether they are uniform: its p is small where they are not.

#include <string>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

struct RankTest {
  std::string quantity;
  std::vector<int64_t> counts = {};  ///< of the truths in each bin, lowest ranks first
  double chi2 = 0, p_value = 1;
};

inline constexpr int64_t kFewestRanks = 10;

/// Members [K,B,H,W], truth and open [B,H,W] (1 where an entry counts). None for fewer than kFewestRanks cases with
/// entries that count. Ties are broken by random numbers of the seed.
std::vector<RankTest> rank_tests(const Tensor& members, const Tensor& truth, const Tensor& open, uint64_t seed);

/// Of ranks 0..members, one per case.
RankTest rank_test(const std::string& quantity, const std::vector<int64_t>& ranks, int64_t members);

}  // namespace piddm
