#pragma once
// The backward pass of the fused FNO (fused_fno.h): from dy [B,O,H,W] and what the forward pass kept to the gradients
// of x and of all weights.
//
//   dz_(L-1) from dy through the projection
//   layer l: dK_l = sum dz_hat conj(y_hat) of each mode,  dS_l = sum dz_l y_l^T,  db_l = sum dz_l,
//            dy_l = K_l^T dz_l + S_l^T dz_l,  dz_(l-1) = gelu'(z_(l-1)) dy_l
//   dx from dh_0 = dy_0 through the lifting
//
// Shapes are those of the forward pass (fused_forward.h): dz [B,H,W,C] and its words, both overwritten layer by layer.
// Sums over the grid (db, and that of the lifting's second bias) are read off the mode (0,0) instead of off dz.

#include <array>
#include <utility>
#include <vector>

#include "piddm/ops/fused_forward.h"

namespace piddm {

struct FusedGradients {
  Tensor x;
  FnoWeights weights;
};

class FusedBackward : private FusedForward {
 public:
  using FusedForward::FusedForward;

  /// Each of the kept inputs is let go once its layer is done.
  FusedGradients run(FusedKept& kept, const Tensor& dy, bool want_x, bool want_weights);

 private:
  /// The weights in the orientations that only this pass needs.
  struct PackedBack {
    Tensor lift2_t, lift1_back, project2_t, project1_back;
    Tensor lift2_t_natural, project1_natural;  ///< gradients of the weights
    std::vector<Tensor> skip;
  };

  void pack_backward();

  /// Input of layer l, computed again where it is not kept.
  Tensor input_of(int64_t l, const FusedKept& kept);

  cuda::MlpBackward mlp(bool lifting, const Tensor& narrow, const Tensor& wide) const;
  /// [hidden, C] and [hidden, 16] products of the hidden side, and [B, hidden] sums before the activation.
  std::array<Tensor, 3> weight_sums(cuda::MlpBackward m);
  MlpWeights project_backward(const Tensor& z, const Tensor& dy, const Tensor& dz, bool want_weights);
  /// Without bias2.
  std::pair<Tensor, MlpWeights> lift_backward(const Tensor& dh, bool want_x, bool want_weights);

  /// Turns dz of layer l into that of layer l-1 and the words likewise. Of layer 0 it returns the sum of its result
  /// over grid and batch, [C], where gradients of weights are wanted.
  Tensor layer_backward(int64_t l, const Tensor& input, const Tensor& modes, const Tensor& dz, const Tensor& words,
                        LayerWeights* gradient);
  Tensor zero_mode(const Tensor& modes) const;
  Tensor spectral_gradient(const Tensor& weight, const Tensor& x, const Tensor& dy);

  PackedBack packed_back_;
};

}  // namespace piddm
