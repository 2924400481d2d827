#pragma once
// The factorised FNO (Tran, Mathews, Xie, Ong 2023): one spectrum per axis instead of one of the plane. A compact
// student: 1.2 M parameters where the FNO of the same width and modes has 17.9 M.
//
//   in      C field channels, 2 coordinate channels, features of t: as in fno.h
//   lift    1x1: C+2+features -> lifting -> GELU -> width
//   layers  x <- x + MLP(K_x x + K_y x), MLP 1x1: width -> hidden -> GELU -> width; K the spectral layer of
//           ops/spectral.h along one axis: every row (column) is transformed on its own and its modes k = 0..m/2 are
//           multiplied by one complex matrix per mode
//   out     1x1: width -> projection -> GELU -> C
//
// Runs on any grid; modes the grid does not have are dropped. Features of t enter as a bias of each sample. Computes in
// the dtype of its input, on a GPU too, whatever the precision.

#include <map>
#include <string>
#include <vector>

#include "piddm/model/network.h"
#include "piddm/model/parameters.h"
#include "piddm/ops/pointwise_mlp.h"
#include "piddm/ops/spectral.h"

namespace piddm {

struct FfnoOptions {
  int64_t channels = 2;
  std::vector<int64_t> modes = {32, 32};
  int64_t width = 64;
  int64_t layers = 4;
  int64_t hidden = 128;
  int64_t lifting = 128;
  int64_t projection = 128;
  int64_t time_features = 32;
  bool fused = true;

  template <class V>
  void fields(V&& f) {
    f("channels", channels, between(1, kMaxChannels), "field channels in and out");
    f("modes", modes, between(2, kMaxModes), "Fourier modes kept along x and y; 32 means -16..16");
    f("width", width, between(1, kMaxWidth), "hidden channels");
    f("layers", layers, between(1, kMaxLayers), "factorised layers");
    f("hidden", hidden, between(1, kMaxWidth), "hidden channels of the MLP of a layer");
    f("lifting", lifting, between(1, kMaxWidth), "hidden channels of the lifting MLP");
    f("projection", projection, between(1, kMaxWidth), "hidden channels of the projection MLP");
    f("time_features", time_features, between(4, kMaxTimeFeatures), "sinusoidal features of t");
    f("fused", fused, "float32 on the CPU: fused MLPs, which have first derivatives only");
  }
};

class Ffno : public Network {
 public:
  Ffno(const FfnoOptions& options, uint64_t seed);

  std::string type() const override { return "ffno"; }
  json options_json() const override { return write_fields(options_); }
  bool on_any_grid() const override { return true; }
  std::vector<int64_t> modes() const override { return options_.modes; }
  int64_t bytes_per_sample(int64_t channels, const GridSize& grid, bool gradient) const override {
    return layered_bytes({options_.width, options_.layers, options_.lifting + options_.projection}, channels, grid,
                         gradient);
  }

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override;

 private:
  struct Layer {
    Tensor along_x, along_y;  ///< [m/2+1, 2, width, width], (real, imaginary) on the second axis
    MlpWeights mlp;
  };
  struct Grid {
    SpectralBasis rows, columns;  ///< one row of W points, one column of H
    Tensor coordinates;           ///< [2, H W]
  };

  MlpWeights make_mlp(const std::string& name, int64_t in, int64_t hidden, int64_t out, double gain = 1);
  const Grid& grid(const Tensor& x);
  Tensor mlp(const Tensor& x, const Tensor& coordinates, const MlpWeights& weights) const;
  Tensor lift(const Tensor& x, const Tensor& t, const Grid& grid) const;
  Tensor layer(const Tensor& x, const Layer& weights, const Grid& grid) const;

  FfnoOptions options_;
  ParameterDraw draw_;
  MlpWeights lift_;
  std::vector<Layer> layers_;
  MlpWeights project_;
  std::map<std::string, Grid> grids_;
};

}  // namespace piddm
