#pragma once
// The one-step student d(e): latent -> final sample.
//
//   e' = the network's Fourier modes of e                 (band_limited)
//   x  = clean estimate of the process at t = 1           linear: e' - v(e', 1)
//        or, with evaluations = N > 1, at t = 1/N after N - 1 Euler steps of one length along v(x_t, t)
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

  /// The same in two steps: what training compares with its targets, and what is made of it (heads.h).
  Tensor soft(const Tensor& e) const { return heads_.soft(estimate(e)); }
  Tensor finished(const Tensor& soft) const { return heads_.finished(soft); }

  Network& network() const { return *network_; }

  /// From here on the corrector hands no gradient to the coefficients: training that moves u only.
  void freeze_coefficients() { heads_.freeze_coefficients(); }

 private:
  /// The clean estimate.
  Tensor estimate(const Tensor& e) const;

  NetworkPtr network_;
  ProcessPtr process_;
  GridSize grid_;
  int64_t evaluations_;
  std::unique_ptr<SpectralBasis> basis_;  ///< of the latent, if band-limited
  Heads heads_;
};

}  // namespace piddm
