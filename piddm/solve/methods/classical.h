#pragma once
// What can be done without any learning, by someone who knows the law of the data and the equation.
//
//   generate                        draws the coefficients from the law and solves (a stream of its own: never the
//                                   samples of a data set)
//   coefficients known exactly      the PDE's solver, for every PDE
//   poisson, helmholtz              exact Gaussian conditioning on any values of u and a: the posterior mean, or a draw
//                                   (elliptic_law.h)
//   darcy                           most probable latent field of the law by adjoint Gauss-Newton
//                                   (darcy_inversion.h)
//   other PDEs, anything unknown    refused
//
// Exact values are given sigma = accuracy * (standard deviation of the channel). The network is not used.

#include "piddm/solve/method.h"
#include "piddm/solve/methods/darcy_inversion.h"
#include "piddm/solve/task/target.h"

namespace piddm {

enum class Estimate { mean, draw };
inline std::vector<std::string> enum_names(Estimate) { return {"mean", "draw"}; }

struct ClassicalOptions {
  Estimate estimate = Estimate::mean;
  double accuracy = 3e-4;
  DarcyInversionOptions darcy;
  int64_t batch = 16;

  template <class V>
  void fields(V&& f) {
    f("estimate", estimate, "poisson, helmholtz: the posterior mean, or a draw from the posterior");
    f("accuracy", accuracy, "smallest sigma of a value, in standard deviations of its channel");
    f("darcy", darcy, "inversion of darcy");
    f("batch", batch, "samples solved together");
  }
};

class ClassicalMethod : public Method {
 public:
  ClassicalMethod(const Model& model, const ClassicalOptions& options);
  static std::string refusal(Task task, const Pde& pde);

  std::string name() const override { return "classical"; }
  Samples generate(int64_t first, int64_t n, uint64_t seed) override;
  Samples solve(const Observation& observation, uint64_t seed) override;

 private:
  Tensor solve_part(const Target& target, uint64_t seed, int64_t first) const;
  Tensor elliptic(const class Poisson& pde, const Target& target, uint64_t seed, int64_t first) const;
  NoisyValues data_of(const Target& target) const;
  Tensor channel_scales(const Tensor& like) const;

  Model model_;
  ClassicalOptions options_;
};

}  // namespace piddm
