#pragma once
// Teachers of which everything is known: fixed weights, Gaussian laws, or next to no work.

#include "piddm/files/npy.h"
#include "piddm/model/model.h"
#include "tests/testing.h"

namespace piddm::testing {

/// A network that is a formula.
class Formula : public Network {
 public:
  using Function = std::function<Tensor(const Tensor& x, const Tensor& t)>;
  explicit Formula(Function f) : f_(std::move(f)) { register_parameter("unused", torch::zeros({1})); }
  std::string type() const override { return "formula"; }
  json options_json() const override { return json::object(); }

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override { return f_(x, t); }

 private:
  Function f_;
};

/// A Poisson teacher on 16x16 with u = scale_u z_u and a = shift_a + scale_a z_a.
inline Model toy_teacher(Formula::Function f, double scale_u = 1, double shift_a = 0, double scale_a = 1,
                         const std::string& process = "linear") {
  Model model;
  model.pde = make_pde({"poisson", 16});
  model.process = process_registry().at(process)();
  const auto channel = [](const char* name, double shift, double scale) {
    return json{{"name", name}, {"mean", shift}, {"std", scale}, {"shift", shift}, {"scale", scale}};
  };
  model.normalizer = Normalizer::from_json(json::array({channel("u", 0, scale_u), channel("a", shift_a, scale_a)}));
  model.network = std::make_shared<Formula>(std::move(f));
  return model;
}

/// v = z/2: an evaluation costs nothing.
inline Model idle_teacher() {
  return toy_teacher([](const Tensor& x, const Tensor&) { return 0.5 * x; });
}

/// The network of tests/golden/make_samplers.py.
inline Model golden_teacher(const TensorMap& g) {
  const auto f = [=](const Tensor& x, const Tensor& t) {
    const auto type = x.scalar_type();
    const auto w = [&](const char* name) { return g.at(name).to(type); };
    const auto hidden = torch::conv2d(x, w("W1"), w("b1"), 1, 1) + (w("c") * t).view({-1, 1, 1});
    return torch::conv2d(hidden.tanh(), w("W2"), w("b2"), 1, 1) + 0.3 * x;
  };
  return toy_teacher(f, 0.5, 1, 2);
}

/// N(mean, Q diag(variance) Q^T) over the 512 entries of a sample, float64.
struct GaussianLaw {
  Tensor mean, basis, variance;

  static GaussianLaw make() {
    constexpr int64_t kDim = 512;
    const auto q = std::get<0>(torch::linalg_qr(normal(1, Stream::parameters, 0, kDim, {kDim}, torch::kFloat64)));
    const auto k = torch::arange(kDim, torch::kFloat64);
    return {0.5 * torch::sin(k), q, 0.05 + 2 * torch::exp(-k / 60)};
  }
  Tensor covariance() const { return (basis * variance).matmul(basis.t()); }

  /// d x0^/d x_t = J(t), a function of the covariance: this applied to rows [B,512].
  Tensor jacobian(const Tensor& rows, double alpha, double sigma) const {
    const auto gain = alpha * variance / (alpha * alpha * variance + sigma * sigma);
    return (rows.matmul(basis) * gain).matmul(basis.t());
  }
  Tensor clean(const Tensor& rows, double alpha, double sigma) const {
    return mean + jacobian(rows - alpha * mean, alpha, sigma);
  }
};

/// Its exact teacher under the linear process.
inline Model gaussian_teacher(const GaussianLaw& law) {
  return toy_teacher([law](const Tensor& x, const Tensor& t) {
    const double time = t.item<double>();
    const auto rows = x.flatten(1).to(torch::kFloat64);
    return ((rows - law.clean(rows, 1 - time, time)) / time).to(x.scalar_type()).view_as(x);
  });
}

}  // namespace piddm::testing
