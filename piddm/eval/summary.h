#pragma once
// What `generate` and `solve` say of samples at once, without held-out data.

#include "piddm/data/normalizer.h"
#include "piddm/data/statistics.h"
#include "piddm/eval/ensembles/scores.h"
#include "piddm/solve/method.h"

namespace piddm {

/// pde_error, rel_residual (of several equations also each one's), boundary_error (where a PDE has one) and the work
/// done, of samples that come piece by piece; the numbers do not depend on the pieces.
class PhysicsSummary {
 public:
  explicit PhysicsSummary(const Pde& pde) : pde_(pde) {}
  void add(const Samples& samples);
  Scores scores() const;

 private:
  const Pde& pde_;
  std::vector<ResidualStatistics> parts_;  ///< a few numbers per sample
  Samples work_;                           ///< sums over the samples
  int64_t n_ = 0;
};

/// The same of samples that are all there.
Scores physics_summary(const Samples& samples, const Pde& pde);

/// mse_<channel>: mean square error of whole channels against the truth, both [n,C,H,W] physical, in units of a
/// channel's variance.
Scores error_summary(const Tensor& x, const Tensor& truth, const Pde& pde, const Normalizer& normalizer);

/// spread_<channel>: root mean square over the entries of an ensemble's standard deviation [n,C,H,W], in standard
/// deviations of the channel.
Scores spread_summary(const Tensor& deviation, const Pde& pde, const Normalizer& normalizer);

}  // namespace piddm
