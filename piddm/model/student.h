#pragma once
// The one-step student d(e): latent -> final sample.
//
//   e' = the network's Fourier modes of e                 (band_limited)
//   x  = clean estimate of the process at t = 1           linear: e' - v(e', 1)
//   x  = the heads of x                                   (heads.h)
//
// Input and output in network units, [B,C,H,W]; differentiable from latent to output.

#include "piddm/model/heads.h"
#include "piddm/ops/spectral.h"

namespace piddm {

class Student {
 public:
  /// `model` is a student, or a teacher from which one is to be made with these heads.
  explicit Student(const Model& model, const HeadOptions& heads);
  explicit Student(const Model& model) : Student(model, model.heads) {}

  Tensor operator()(const Tensor& e) const;

  Network& network() const { return *network_; }

  /// From here on the corrector hands no gradient to the coefficients: training that moves u only.
  void freeze_coefficients() { heads_.freeze_coefficients(); }

 private:
  NetworkPtr network_;
  ProcessPtr process_;
  GridSize grid_;
  std::unique_ptr<SpectralBasis> basis_;  ///< of the latent, if band-limited
  Heads heads_;
};

}  // namespace piddm
