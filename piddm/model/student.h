#pragma once
// The one-step student d(e): latent -> final sample.
//
//   e' = the network's Fourier modes of e                 (band_limited)
//   x  = clean estimate of the process at t = 1           linear: e' - v(e', 1)
//        or, with evaluations = N > 1, at t = 1/N after N - 1 Euler steps of one length along v(x_t, t)
//   u  = S (1 + lambda/lambda_c)^-1 S u                   (smooth) where u vanishes on the wall or outer ring
//   a  = mid + half tanh(gain (a - mid)/half)             (bounded)
//   a  = the nearer of its two values, gradient as above  (sharp) straight-through, Bengio et al. 2013
//   s  = spatial mean of s                                (constant) scalar channels
//   u  = k iterations of A(a) u = f from u                (corrector) conjugate gradients, the PDE's fast solver inside
//   x  = C(x), the PDE's hard constraint                  (constrained)
//
// Input and output in network units, [B,C,H,W]; differentiable from latent to output.

#include "piddm/model/model.h"
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
  void freeze_coefficients() { frozen_ = true; }

 private:
  Tensor estimate(const Tensor& latent) const;
  Tensor smooth(const Tensor& u, ZeroOn zero_on) const;
  Tensor shaped(const Tensor& field, const Channel& channel) const;
  Tensor corrected(const Tensor& x) const;

  NetworkPtr network_;
  ProcessPtr process_;
  Normalizer normalizer_;
  PdePtr pde_;
  HeadOptions heads_;
  bool frozen_ = false;                   ///< the corrector's coefficients have no gradient
  std::unique_ptr<SpectralBasis> basis_;  ///< of the latent, if band-limited
  Tensor filter_, node_filter_;  ///< [H,W] and [H-2,W-2] over the sine modes of cells and inner nodes, if smooth
};

}  // namespace piddm
