#pragma once
// The heads: what turns the raw clean estimate of a network into a final sample (HeadOptions in model.h).
//
//   u  = S (1 + lambda/lambda_c)^-1 S u                   (smooth) where u vanishes on the wall or outer ring
//   a  = mid + half tanh(gain (a - mid)/half)             (bounded)
//   s  = spatial mean of s                                (constant) scalar channels
//   x  = C(x), the PDE's hard constraint                  (constrained) without a corrector; else last of all
//   ---- the soft sample ends here
//   a  = the nearer of its two values, gradient 1         (sharp) straight-through, Bengio et al. 2013
//   u  = k iterations of A(a) u = f from u                (corrector) conjugate gradients, the PDE's fast solver inside
//
// Training compares the soft sample with its target and with the equation, an adversary judges the final one.
//
// Input and output in network units, [B,C,H,W]; differentiable.

#include "piddm/model/model.h"

namespace piddm {

class Heads {
 public:
  /// Those of `options` for samples of `model`; a UsageError where they do not go together or the PDE has no corrector.
  Heads(const Model& model, const HeadOptions& options);

  Tensor operator()(const Tensor& z) const;

  /// The same in two steps, network units in between.
  Tensor soft(const Tensor& z) const;
  Tensor finished(const Tensor& soft) const;

  /// From here on the corrector hands no gradient to the coefficients: training that moves u only.
  void freeze_coefficients() { frozen_ = true; }

 private:
  Tensor smooth(const Tensor& u, ZeroOn zero_on) const;
  Tensor shaped(const Tensor& field, const Channel& channel) const;
  bool shapes() const { return heads_.smooth || heads_.bounded || heads_.constant || heads_.constrained; }
  bool finishes() const { return heads_.sharp || heads_.corrector > 0; }
  Tensor shape_all(const Tensor& x) const;  ///< these and below: physical units
  Tensor finish(const Tensor& x) const;
  Tensor cut(const Tensor& field, const Channel& channel) const;
  Tensor corrected(const Tensor& x) const;

  Normalizer normalizer_;
  PdePtr pde_;
  HeadOptions heads_;
  bool frozen_ = false;          ///< the corrector's coefficients have no gradient
  Tensor filter_, node_filter_;  ///< [H,W] and [H-2,W-2] over the sine modes of cells and inner nodes, if smooth
};

}  // namespace piddm
