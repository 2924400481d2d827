#pragma once
// Adam (Kingma and Ba, 2015) and an exponential moving average over one flat buffer.
//
//   m <- b1 m + (1-b1) g,  s <- b2 s + (1-b2) g^2,  w <- w - lr (m/(1-b1^k)) / (sqrt(s/(1-b2^k)) + eps)
//   ema <- d ema + (1-d) w,  d = min(decay, (1+k)/(10+k)): early steps do not remember the initial weights for long
//
// The parameters of the module become views of one tensor, and so do their gradients: a step is a handful of operations
// whatever the number of parameters, and clipping and finiteness are one reduction.
//
// On a GPU (float32) a step is three kernels (cuda/optimizer.h) that read everything from device memory and never
// involve the host: prepare(), then step_on_gpu(). A step whose loss or gradient is not finite changes nothing, and
// neither does any after it; status() tells.

#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/cuda/optimizer.h"
#include "piddm/files/tensor_map.h"

namespace piddm {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  ///< as in the paper; no keys of a config
  double clip = 1.0;
  double ema = 0.999;

  template <class V>
  void fields(V&& f) {
    f("lr", lr, more_than(0), "peak learning rate");
    f("clip", clip, at_least(0), "largest gradient norm; 0: no clipping");
    f("ema", ema, from_to_below(0, 1), "decay of the moving average of the weights");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"beta1", "", "always 0.9"}, {"beta2", "", "always 0.999"}, {"eps", "", "always 1e-8"}};
  }
};

class Adam {
 public:
  /// Takes over the parameters' storage; the module must not be moved to another device afterwards.
  Adam(torch::nn::Module& module, const AdamOptions& options);

  void zero_grad() { gradient_.zero_(); }
  double gradient_norm() const { return gradient_.norm().item<double>(); }

  /// The first parameter whose gradient is not finite, or "".
  std::string non_finite_gradient() const;

  /// Step number `k` (from 1) with learning rate `lr`; `norm` is gradient_norm(), used for clipping.
  void step(int64_t k, double lr, double norm);

  /// Whether the two below may be called.
  bool fits_gpu_step() const;

  /// Sends the numbers of step `k` (from 1) to the GPU.
  void prepare(int64_t k, double lr);

  /// The prepared step. `loss` is its loss, one value on the GPU.
  void step_on_gpu(const Tensor& loss);

  /// cuda::AdamStatus as float64 [3] on the GPU: norm of the last gradient, its scale by clipping, first step (from 0)
  /// that was not finite or -1.
  const Tensor& status() const { return status_; }

  /// Exchanges weights and moving average; call again to get back.
  void swap_ema();

  /// Named copies: "model", "ema", "exp_avg", "exp_avg_sq".
  std::map<std::string, TensorMap> state() const;
  void load(const std::map<std::string, TensorMap>& state);

  /// The average as named tensors.
  TensorMap ema() const { return split(ema_); }

 private:
  struct Entry {
    std::string name;
    std::vector<int64_t> shape;
    int64_t offset, size;
  };
  cuda::AdamNumbers numbers(int64_t k, double lr) const;
  TensorMap split(const Tensor& flat) const;
  void join(Tensor& flat, const TensorMap& tensors) const;

  AdamOptions options_;
  std::vector<Entry> entries_;
  Tensor weights_, gradient_, exp_avg_, exp_avg_sq_, ema_;
  Tensor numbers_, status_, partial_;  ///< of the step on a GPU (cuda/optimizer.h), float64
};

}  // namespace piddm
