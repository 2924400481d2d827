#pragma once
// Optimisation of latents: every sample of a batch on its own, the best point each has seen is returned.
//
// Where the objective is a sum of squares and can be asked for some samples of the batch only (minimize_squares),
// Gauss-Newton is there too, and samples that have converged leave the batch: their evaluations are saved.

#include <functional>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/numerics/gauss_newton.h"
#include "piddm/numerics/lbfgs.h"

namespace piddm {

enum class LatentOptimizer { lbfgs, adam, gd, gauss_newton };
inline std::vector<std::string> enum_names(LatentOptimizer) { return {"lbfgs", "adam", "gd", "gauss-newton"}; }

/// Evaluations of a sample over which the tolerance of lbfgs, adam and gd is measured; an iteration of gauss-newton.
constexpr int64_t kToleranceWindow = 10;

/// One latent optimisation: which optimiser, how far.
struct LatentOptions {
  LatentOptimizer optimizer = LatentOptimizer::lbfgs;
  int64_t iterations = 80;
  double step = 0.05;
  double tolerance = 0;
  int64_t directions = 10;                                ///< gauss-newton: conjugate gradient steps of an iteration
  JacobianProduct products = JacobianProduct::automatic;  ///< gauss-newton: exact where possible

  static std::vector<FormerKey> former_keys() {
    return {{"directions", "", "gauss-newton takes 10"}, {"products", "", "exact where possible"}};
  }
  template <class V>
  void fields(V&& f) {
    f("optimizer", optimizer,
      "lbfgs (strong Wolfe, per sample), adam, gd, or gauss-newton (with conjugate gradients; piddm only)");
    f("iterations", iterations, count_from(0),
      "evaluations of the objective; of gauss-newton: Jacobian products included");
    f("step", step, more_than(0), "step size of adam and gd");
    f("tolerance", tolerance, at_least(0),
      "a sample is done when 10 evaluations (one iteration of gauss-newton) lower its objective by less than this "
      "share; 0: never");
  }
};

struct LatentResult {
  Tensor x;              ///< like x0
  Tensor value;          ///< [B] float64, the objective there; infinite without iterations
  Tensor evaluations;    ///< [B] int64, of each sample, Jacobian products included
  Tensor converged;      ///< [B] bool: ended before its evaluations were spent
  int64_t tangents = 0;  ///< Jacobian products that a WorkMeter does not see, in sample evaluations
};

/// Minimises |f(x)[b]|^2, f: [b,...] -> [b,M], with any of the optimisers.
LatentResult minimize_squares(const RowFunction& f, const Tensor& x0, const LatentOptions& options);

/// Minimises value[b] over x[b] from x0; every sample on its own, best iterate returned. Not gauss-newton; no
/// tolerance.
Tensor minimize_latents(const BatchObjective& objective, const Tensor& x0, const LatentOptions& options);

/// The same for a differentiable loss [B,...] -> [B].
Tensor minimize_latents(const std::function<Tensor(const Tensor&)>& loss, const Tensor& x0,
                        const LatentOptions& options);

}  // namespace piddm
