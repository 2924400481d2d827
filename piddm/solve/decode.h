#pragma once
// Exact decoding of a batch of samples: the solution replaced by the one for the sample's own coefficients.

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

/// Replaces the samples by their exact decodes (float64) and adds the time it took.
DecodeSummary decode_samples(Samples& samples, const Pde& pde);

/// Decodes of samples that come piece by piece; the summary does not depend on the pieces.
class DecodeTotal {
 public:
  void decode(Samples& samples, const Pde& pde);
  DecodeSummary summary() const;

 private:
  std::vector<Tensor> iterations_, moved_, clamped_;  ///< one number per sample
};

}  // namespace piddm
