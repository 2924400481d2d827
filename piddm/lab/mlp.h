#pragma once
// A multilayer perceptron for toys: ReLU between full maps on the flattened sample, with t as one more input if asked for (a teacher) or without (a
// one-step student). Weights and biases start uniform in +-1/sqrt(inputs).

#include "piddm/model/network.h"

namespace piddm {

struct MlpOptions {
  int64_t dimension = 2;
  int64_t width = 100;
  int64_t layers = 2;
  bool time = false;
  template <class V>
  void fields(V&& f) {
    f("dimension", dimension, "entries of a sample, in and out");
    f("width", width, "units of a hidden layer");
    f("layers", layers, "hidden layers");
    f("time", time, "whether t is an input");
  }
};

class Mlp : public Network {
 public:
  Mlp(const MlpOptions& options, uint64_t seed);
  std::string type() const override { return "mlp"; }
  json options_json() const override { return write_fields(options_); }

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override;

 private:
  MlpOptions options_;
  std::vector<std::pair<Tensor, Tensor>> maps_;  // weight [out,in], bias [out]
};

}  // namespace piddm
