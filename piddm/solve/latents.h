#pragma once
// Optimisation of latents: every sample of a batch on its own, the best point each has seen is returned.

#include <functional>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/numerics/lbfgs.h"

namespace piddm {

enum class LatentOptimizer { lbfgs, adam, gd };
inline std::vector<std::string> enum_names(LatentOptimizer) { return {"lbfgs", "adam", "gd"}; }

/// One latent optimisation: which optimiser, how far.
struct LatentOptions {
  LatentOptimizer optimizer = LatentOptimizer::lbfgs;
  int64_t iterations = 80;
  double step = 0.05;
  template <class V>
  void fields(V&& f) {
    f("optimizer", optimizer, "lbfgs (strong Wolfe, per sample), adam or gd");
    f("iterations", iterations, "evaluations of the objective");
    f("step", step, "step size of adam and gd");
  }
};

/// Minimises value[b] over x[b] from x0 with the chosen optimiser; every sample on its own, best iterate returned.
Tensor minimize_latents(const BatchObjective& objective, const Tensor& x0, const LatentOptions& options);

/// The same for a differentiable loss [B,...] -> [B].
Tensor minimize_latents(const std::function<Tensor(const Tensor&)>& loss, const Tensor& x0,
                        const LatentOptions& options);

}  // namespace piddm
