#pragma once
// The two-sample test of generated samples: how often a classifier (classifier.h) tells them from true ones.
//
// A cell between the two values of a coefficient, or a residual, would give any generator away, whatever its law. So
// two-valued coefficients are cut to the nearer of their values, solutions are replaced by the solution for these
// coefficients (Pde::decode), scalar channels by their mean; true data are treated the same way. What is judged:
//
//   classifier_cut       the two-valued coefficients; not measured where there are none
//   classifier_decoded   all channels, without waves beyond number 32 (cosine modes beyond 64)
//   classifier           the larger of both
//
// The floor is one training on true data against true data, min(N, M/2) of each kind.

#include <memory>

#include "piddm/eval/classifier.h"
#include "piddm/eval/ensembles/scores.h"
#include "piddm/pde/pde.h"

namespace piddm {

constexpr int64_t kJudgedWaves = 32;

/// x [...,H,W] without cosine modes beyond 2 `waves` along either axis, float64.
Tensor low_pass(const Tensor& x, int64_t waves);

/// Two-valued channels of x [N,C,H,W] at the nearer of their values, scalar channels at their means.
Tensor cut_to_values(const Tensor& x, const std::vector<Channel>& channels);

class TwoSampleTest {
 public:
  /// `reference` [M,C,H,W] physical float64; the classifier is trained on its device.
  TwoSampleTest(PdePtr pde, Tensor reference, const ClassifierRecipe& recipe = {});

  /// Values with binomial intervals by resampling the answers; NaN where x is not finite.
  void measure(const Tensor& x, const Bootstrap& bootstrap, Scores& scores) const;

  void floor(int64_t n, uint64_t seed, Scores& scores) const;

 private:
  struct View {
    std::string key;
    Tensor fields;  ///< [N,c,H,W] float32
  };
  using Views = std::vector<View>;
  Views views_of(const Tensor& x) const;
  const Views& reference() const;
  static void add(const Views& generated, const Views& truth, const ClassifierRecipe& recipe,
                  const Bootstrap& bootstrap, Scores& scores);

  PdePtr pde_;
  Tensor physical_;
  ClassifierRecipe recipe_;
  mutable std::shared_ptr<const Views> reference_;  ///< made at the first use
};

}  // namespace piddm
