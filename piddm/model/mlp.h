#pragma once
// A multilayer perceptron for mixtures and other toys: ReLU between full maps on the flattened sample, with t as one
// more input (a teacher) or without (a one-step student). Weights and biases start uniform in +-1/sqrt(inputs). It
// belongs to one grid.

#include "piddm/model/network.h"
#include "piddm/model/parameters.h"

namespace piddm {

struct MlpOptions {
  int64_t channels = 2;
  int64_t points = 1;
  int64_t width = 100;
  int64_t layers = 2;
  bool time = true;
  template <class V>
  void fields(V&& f) {
    f("channels", channels, between(1, kMaxChannels), "field channels in and out");
    f("points", points, between(1, kMaxPoints), "points of the grid, H W");
    f("width", width, between(1, kMaxWidth), "units of a hidden layer");
    f("layers", layers, between(1, kMaxLayers), "hidden layers");
    f("time", time, "whether t is an input");
  }
};

class Mlp : public Network {
 public:
  Mlp(const MlpOptions& options, uint64_t seed);
  std::string type() const override { return "mlp"; }
  json options_json() const override { return write_fields(options_); }
  int64_t bytes_per_sample(int64_t channels, const GridSize& grid, bool gradient) const override {
    return layered_bytes({options_.width, options_.layers}, channels, grid, gradient);
  }

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override;

 private:
  MlpOptions options_;
  std::vector<std::pair<Tensor, Tensor>> maps_;  // weight [out,in], bias [out]
};

}  // namespace piddm
