#pragma once
// Are these coefficients draws of the PDE's law?

#include <string>
#include <vector>

#include "piddm/pde/pde.h"

namespace piddm {

/// One statistic of one coefficient channel, of the data and of fresh draws of the law.
struct LawScore {
  std::string channel, statistic;  ///< "mean" or "mean square", of a sample
  double data = 0, law = 0;        ///< averages over samples
  double z = 0;  ///< (data - law) in standard errors; differences below 1e-6 of the channel's RMS count as none
};

/// `n` of the data against 256..1024 fresh draws, none of which any data file has. Nothing of a PDE without a law.
std::vector<LawScore> compare_with_law(const Pde& pde, const Tensor& fields);

/// How many of the first samples of `fields` are not the coefficients that (seed, first) draws, to 1e-5 of the
/// channel's RMS.
int64_t count_other_coefficients(const Pde& pde, const Tensor& fields, uint64_t seed, int64_t first);

}  // namespace piddm
