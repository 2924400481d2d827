#pragma once
// Exact decoding of a batch of samples: the solution replaced by the one for the sample's own coefficients, which may
// be cut to their two values first.

#include "piddm/solve/method.h"

namespace piddm {

struct DecodeSummary {
  double iterations_mean = 0;
  int64_t iterations_max = 0;
  double moved_mean = 0, moved_max = 0;
  int64_t clamped_entries = 0;

  template <class V>
  void fields(V&& f) {
    f("iterations_mean", iterations_mean, "iterations of the solver per sample");
    f("iterations_max", iterations_max, "and the most of them");
    f("moved_mean", moved_mean, "how far decoding moved a sample (Decoded::moved)");
    f("moved_max", moved_max, "and the farthest");
    f("clamped_entries", clamped_entries, "coefficients that were not admissible");
  }
};

/// x = [B,C,H,W] with each coefficient that has only two values (Channel::two_valued) set to the nearer of them.
Tensor cut_to_two_values(const Tensor& x, const Pde& pde);

/// Replaces the samples by their exact decodes (float64) and adds the time it took; `two_valued`: after
/// cut_to_two_values.
DecodeSummary decode_samples(Samples& samples, const Pde& pde, bool two_valued = false);

/// Decodes of samples that come piece by piece; the summary does not depend on the pieces.
class DecodeTotal {
 public:
  /// A UsageError where two_valued is asked of a PDE that has no such coefficient.
  explicit DecodeTotal(const Pde& pde, bool two_valued = false);

  void decode(Samples& samples);
  DecodeSummary summary() const;

 private:
  const Pde& pde_;
  bool two_valued_;
  std::vector<Tensor> iterations_, moved_, clamped_;  ///< one number per sample
};

}  // namespace piddm
