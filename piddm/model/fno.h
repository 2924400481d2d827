#pragma once
// The Fourier neural operator with time encoding.
//
//   in      C field channels, D conditions (given, not returned), 2 coordinate channels ((i+1/2)/H, (j+1/2)/W), 32
//           features of t: sin and cos of 2000 t 2000^(-i/15), i = 0..15
//   lift    1x1: C+D+34 -> lifting -> GELU -> width
//   layers  x <- act(K x + S x + b), K the spectral layer (ops/spectral.h), S a 1x1 map or, in the local FNO (skip =
//           3), a 3x3 convolution that continues x by zeros; GELU (exact) after all but the last
//   out     1x1: width -> projection -> GELU -> C
//
// The features of t are constant in space: their share of the first 1x1 map is computed once per sample and added as a
// bias. Defaults: the paper's network, 17.9 M parameters. Runs on any grid; modes the grid does not have are dropped.
//
// With 1x1 maps whatever is finer than the kept modes is made point by point: a student cannot give a coefficient edges
// and islands that its modes do not resolve. Convolutions can (docs/students.md); they are bound to the spacing of the
// grid they were trained on.
//
// The form "fused" runs float32 tensors on the CPU through the operators of ops/pointwise_mlp.h and
// ops/spectral_layer.h, and on a GPU through ops/fused_fno.h in the network's precision; they have first derivatives
// only. Everything else, and the forms "gemm" and "fft", are composed from tensor operations. All agree to the rounding
// of the precision.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "piddm/model/network.h"
#include "piddm/model/parameters.h"
#include "piddm/ops/fused_fno.h"
#include "piddm/ops/spectral_layer.h"

namespace piddm {

struct FnoOptions {
  int64_t channels = 2;
  int64_t conditions = 0;
  std::vector<int64_t> modes = {32, 32};
  int64_t width = 64;
  int64_t layers = 4;
  int64_t lifting = 256;
  int64_t projection = 256;
  int64_t time_features = 32;
  int64_t skip = 1;
  SpectralForm spectral = SpectralForm::fused;
  bool recompute = false;

  int64_t inputs() const { return channels + conditions; }

  template <class V>
  void fields(V&& f) {
    f("channels", channels, between(1, kMaxChannels), "field channels in and out");
    f("conditions", conditions, between(0, kMaxChannels), "further channels in, after the fields; not returned");
    f("modes", modes, between(2, kMaxModes), "Fourier modes kept along x and y; 32 means -16..15 and 0..16");
    f("width", width, between(1, kMaxWidth), "hidden channels");
    f("layers", layers, between(1, kMaxLayers), "spectral layers");
    f("lifting", lifting, between(1, kMaxWidth), "hidden channels of the lifting MLP");
    f("projection", projection, between(1, kMaxWidth), "hidden channels of the projection MLP");
    f("time_features", time_features, between(4, kMaxTimeFeatures), "sinusoidal features of t");
    f("skip", skip, between(1, 3), "size of the local map beside the spectral one: 1 (1x1) or 3 (3x3, the local FNO)");
    f("spectral", spectral,
      "form of the spectral layer: fused (fastest; sizes it does not take run as gemm), gemm (truncated DFT) or fft");
    f("recompute", recompute, "on a GPU keep every other layer only and compute the rest again in the backward pass");
  }
};

/// [B, features]: sin then cos of 2000 t 2000^(-i/(n-1)), i = 0..n-1, n = features/2.
Tensor time_encoding(const Tensor& t, int64_t features);

class Fno : public Network {
 public:
  Fno(const FnoOptions& options, uint64_t seed);

  std::string type() const override { return "fno"; }
  json options_json() const override;
  bool on_any_grid() const override { return options_.skip == 1; }
  std::vector<int64_t> modes() const override { return options_.modes; }
  int64_t bytes_per_sample(int64_t channels, const GridSize& grid, bool gradient) const override {
    return layered_bytes({options_.width, options_.layers, options_.lifting + options_.projection},
                         channels + options_.conditions, grid, gradient);
  }
  const FnoOptions& options() const { return options_; }

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override;

 private:
  struct Grid {
    SpectralBasis basis;
    Tensor coordinates;                  ///< [2, H W]
    std::optional<SpectralPlan> on_cpu;  ///< of the fused operators, where they take these tensors
    std::optional<FusedPlan> on_cuda;
  };

  const Grid& grid(const Tensor& x);

  /// The CUDA kernels have gradients of few fields only.
  bool takes_gradient(const Tensor& x) const;
  Tensor time_bias(const Tensor& t) const;
  Tensor lift(const Tensor& x, const Tensor& t, const Tensor& coordinates) const;
  Tensor spectral(const Tensor& x, const LayerWeights& layer, const Grid& grid) const;
  Tensor fused_cpu(const Tensor& x, const Tensor& t, const Grid& grid) const;
  Tensor fused_cuda(const Tensor& x, const Tensor& t, const Grid& grid) const;
  Tensor composed(const Tensor& x, const Tensor& t, const Grid& grid) const;

  FnoOptions options_;
  Tensor lift1_, lift1_bias_, lift2_, lift2_bias_, project1_, project1_bias_, project2_, project2_bias_;
  std::vector<LayerWeights> layers_;
  std::map<std::string, Grid> grids_;
};

}  // namespace piddm
