#pragma once
// The forward pass of the fused FNO (fused_fno.h): one batch through the kernels of piddm/cuda, from x [B,C,H,W] to y
// [B,O,H,W].
//
//   h = lift(x);  words of h;  y = project(z) of the last layer
//   a layer:  words -> modes -> mixed modes -> words -> z and the words of the next
//
//   h, z   [B,H,W,C]       activations, before gelu
//   words  [B,H,K2,C,2]    rows transformed along W
//   modes  [K1,K2,B,C,2]   the kept modes
//
// all in the precision's storage. The backward pass (fused_backward.h) is built on the same steps: packing, transforms,
// mixing, and whole layers where it computes them again.

#include <array>
#include <vector>

#include "piddm/ops/fused_fno.h"

namespace piddm {

inline const float* floats(const Tensor& x) { return x.data_ptr<float>(); }

/// What the backward pass needs of the forward pass.
struct FusedKept {
  /// Of each layer, before the activation; then the last layer's z. Undefined where not kept.
  std::vector<Tensor> inputs;
  std::vector<Tensor> modes;  ///< of each layer's input
};

/// One pass over one batch. Tensors it holds are those of the weights' or the activations' storage; weights and plan
/// must outlive it.
class FusedForward {
 public:
  FusedForward(const Tensor& x, const Tensor& coordinates, const FnoWeights& weights, const FusedPlan& plan,
               Precision precision);

  /// y; fills `kept` unless it is null, with `recompute` the inputs of every other layer only.
  Tensor run(FusedKept* kept, bool recompute);

 protected:
  struct Sizes {
    int64_t batch, inputs, outputs, fixed, height, width, channels, points, layers, hidden_in, hidden_out, kept1, kept2;
    int padded, padded_in, padded_out;
  };

  /// The weights as the kernels want them: every matrix in the orientation of the product it takes part in.
  struct Packed {
    Tensor lift1, lift2, project1, project2;
    std::vector<Tensor> skip;  ///< undefined where it is a convolution
  };

  cuda::Stream stream() const;
  Tensor activation() const { return gpu_storage({s_.batch, s_.height, s_.width, s_.channels}, device_, precision_); }
  Tensor words() const { return gpu_storage({s_.batch, s_.height, s_.kept2, s_.channels, 2}, device_, precision_); }
  Tensor modes() const { return gpu_storage({s_.kept1, s_.kept2, s_.batch, s_.channels, 2}, device_, precision_); }

  /// Adds a job: B[k,n] = source(k,n) of a [depth, columns] view.
  Tensor job(const Tensor& view, int64_t padded_depth, int64_t padded_columns, bool wide_k, bool wide_n,
             bool activated = false);
  void run_jobs();
  void pack_forward();

  /// [B,n,P] and coordinates side by side at each point.
  Tensor interleaved(const Tensor& fields, bool with_coordinates) const;

  void analyse(const Tensor& basis, double scale, const Tensor& x, const Tensor& words);
  void to_modes(const Tensor& words, const Tensor& modes);
  void to_grid(const Tensor& modes, const Tensor& words);

  /// cuda::ModeMixing or cuda::ModeGradient of a weight [m1,m2,2,C,C] with all its sizes and no pointers.
  template <class Mixing>
  Mixing mixing(const Tensor& weight) const {
    Mixing m{};
    m.batch = as_int(s_.batch);
    m.inputs = m.outputs = as_int(s_.channels);
    m.kept1 = as_int(s_.kept1);
    m.kept2 = as_int(s_.kept2);
    m.first1 = as_int(plan_.first1);
    m.full2 = as_int(weight.size(1));
    return m;
  }
  Tensor mixed(const Tensor& weight, const Tensor& in, bool adjoint);

  /// What layer l is applied to, given its kept input.
  Tensor activated(int64_t l, const Tensor& input) const;

  /// z of layer l and, where `next` is defined, the words of gelu(z).
  void layer(int64_t l, const Tensor& input, const Tensor& modes, const Tensor& z, const Tensor& next);

  Tensor x_, coordinates_;
  const FnoWeights& w_;
  const FusedPlan& plan_;
  Precision precision_;
  torch::Device device_;
  Sizes s_{};
  Packed packed_;

 private:
  void lift(const Tensor& h);
  Tensor project(const Tensor& z);

  /// Strides in numbers, of (position along H, sample, k2).
  void along_h(const Tensor& in, const Tensor& basis, const Tensor& out, int64_t n_in, int64_t n_out,
               std::array<int64_t, 3> from, std::array<int64_t, 3> to);

  std::vector<cuda::PackB> jobs_;
};

}  // namespace piddm
