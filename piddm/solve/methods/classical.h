#pragma once
// What can be done without learning, knowing the law of the data and the equation.
//
//   generate                      draws the coefficients from the law, from a stream of its own, and solves: never the
//                                 samples of a data set
//   coefficients known exactly    the PDE's solver, for every PDE
//   poisson, helmholtz            exact Gaussian conditioning on any values and linear functionals of u and a: the
//                                 posterior mean, or a draw (elliptic_law.h)
//   darcy                         most probable latent field of the law by adjoint Gauss-Newton (darcy_inversion.h)
//   other PDEs                    refused where a coefficient is unknown
//
// Exact values are given sigma = accuracy * (standard deviation of the channel). The network is not used.

#include "piddm/numerics/random_fields/gaussian_conditioning.h"
#include "piddm/solve/batched_method.h"

namespace piddm {

enum class Estimate { mean, draw };
inline std::vector<std::string> enum_names(Estimate) { return {"mean", "draw"}; }

struct ClassicalOptions {
  Estimate estimate = Estimate::mean;
  double accuracy = 3e-4;
  int64_t batch = 16;

  template <class V>
  void fields(V&& f) {
    f("estimate", estimate, "where the law is Gaussian: the posterior mean, or a draw from the posterior");
    f("accuracy", accuracy, Bound{0, 1, true, true},
      "smallest sigma of a value, in standard deviations of its channel");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"darcy", "", "its inversion has a fixed budget of steps"}};  // name: a former key
  }
};

class ClassicalMethod : public BatchedMethod {
 public:
  ClassicalMethod(const Model& model, const ClassicalOptions& options);
  static std::string refusal(Task task, const Pde& pde);
  static std::string draw_refusal(Task task, const Pde& pde);
  static json draw_options() { return {{"estimate", "draw"}}; }

  /// The solver wherever all coefficients are known; exact conditioning where the training data have the law that the
  /// PDE's name says, to a factor of 1.5 in their standard deviations: data of another law need a learned prior.
  static std::optional<Suitability> suits(const Problem& problem);

 protected:
  Tensor sample(const Batch& batch) override;
  bool takes_functionals() const override;
  torch::ScalarType dtype() const override { return torch::kFloat64; }
  void check(const Target& known) const override { check_given_coefficients(known, model_, name()); }
  Tensor to_physical(const Tensor& x) const override { return x; }  ///< solvers work in these units

 private:
  Tensor solved(const Batch& batch) const;
  Tensor elliptic(const class Poisson& pde, const Batch& batch) const;
  NoisyValues data_of(const Target& target) const;
  Functionals functionals_of(const Target& target) const;
  Tensor channel_scales(const Tensor& like) const;

  ClassicalOptions options_;
};

}  // namespace piddm
