#pragma once
// Preconditioned conjugate gradients for A x = b, A symmetric positive definite, many samples at once.
//
// Every sample [.,C,H,W] is its own linear system with its own step lengths, and stops by itself; a stopped sample is
// frozen, so a result does not depend on its batch companions. A run ends on its recursive residual; then the true
// residual b - A x is formed, and a sample that misses the tolerance is run again on what is left (iterative
// refinement) as long as that at least halves the residual. What is returned is the iterate with the smallest true
// residual: near round-off, where a tolerance may be out of reach, that is the best there is.

#include <functional>

#include "piddm/core/tensor.h"

namespace piddm {

using LinearMap = std::function<Tensor(const Tensor&)>;  ///< acts on each sample of [B,C,H,W] separately

struct CgOptions {
  double tolerance = 1e-12;       ///< on ||b - A x|| / ||b||, each sample
  double acceptable = 1e-8;       ///< a sample that ends above this and above the tolerance is a NumericsError
  int64_t max_iterations = 2000;  ///< of each sample
  int64_t patience = 100;         ///< a run also ends after this many iterations without a smaller residual
};

struct CgResult {
  Tensor x;                  ///< [B,C,H,W]
  Tensor iterations;         ///< [B] int64
  Tensor relative_residual;  ///< [B] float64, the true one
};

/// `preconditioner` approximates A^-1 and is symmetric positive definite; `start` (undefined: zero) is the first guess.
CgResult conjugate_gradient(const LinearMap& a, const LinearMap& preconditioner, const Tensor& b,
                            const Tensor& start = {}, const CgOptions& options = {});

/// `iterations` >= 0 steps of the same from `start`, with nothing else: no tolerance, no word to the host, every sample
/// as many as the others. Differentiable in b, start and what the maps depend on. A sample that has nothing left stays
/// where it is. Only the preconditioner's direction matters: a constant factor, of either sign, drops out.
Tensor conjugate_gradient_steps(const LinearMap& a, const LinearMap& preconditioner, const Tensor& b,
                                const Tensor& start, int64_t iterations);

/// A NumericsError that counts the samples which ended above both the tolerance and what is acceptable.
void require_converged(const CgResult& result, const CgOptions& options);

}  // namespace piddm
