#pragma once
// How the phases of two-valued coefficients (phases.h) compare with those of true data, beside bootstrap intervals and
// floors:
//
//   between                     share of the cells between the two values
//   interface, islands          interface length and regions per sample; floor: those of the true data
//   interface_ratio, islands_ratio   over those of the true data; floor: how far true data are from true data, the 95th
//                                    percentile of max(ratio, 1/ratio), so that 1.02 stands for 1/1.02 to 1.02
//
// With several two-valued channels each has values of its own, "between_a", and the means over them come first.
// Nothing is measured where a PDE has none.

#include "piddm/eval/ensembles/scores.h"
#include "piddm/pde/pde.h"

namespace piddm {

class PhaseMetrics {
 public:
  /// `reference` [M,C,H,W] physical.
  PhaseMetrics(const std::vector<Channel>& channels, const Tensor& reference);

  void measure(const Tensor& x, const Bootstrap& bootstrap, Scores& scores) const;
  void floor(int64_t n, uint64_t seed, Scores& scores) const;

 private:
  /// One number per sample.
  struct Series {
    std::string suffix;
    Tensor between, interface, islands;
  };
  std::vector<Series> series_of(const Tensor& x) const;

  std::vector<std::pair<int64_t, Channel>> two_valued_;  ///< with their place among the channels
  std::vector<Series> reference_;
};

}  // namespace piddm
