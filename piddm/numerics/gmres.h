#pragma once
// Right-preconditioned GMRES for A x = b, A any regular matrix, many samples at once (Saad and Schultz, 1986).
//
// Every sample [.,C,H,W] is its own linear system with its own Krylov space, and stops by itself; a stopped sample is
// frozen, so a result does not depend on its batch companions or on the number of threads. The basis is orthogonalised
// twice by classical Gram-Schmidt, which is as good as modified Gram-Schmidt and needs few words to the device; the
// small least-squares problems are solved on the host. A cycle ends on the residual of the small problem, or after
// `restart` steps; then the true residual b - A x is formed, and the next cycle starts from it (iterative refinement)
// as long as a cycle takes at least a tenth off it. What is returned is the iterate with the smallest true residual:
// near round-off, of a singular system, or after too few steps that is the best there is, and the caller decides
// whether it will do.

#include "piddm/numerics/conjugate_gradient.h"

namespace piddm {

struct GmresOptions {
  double tolerance = 1e-12;      ///< on ||b - A x|| / ||b||, each sample
  int64_t restart = 40;          ///< steps of a cycle; as many fields, and one, are held
  int64_t max_iterations = 400;  ///< of each sample, all cycles together
};

struct GmresResult {
  Tensor x;                  ///< [B,C,H,W]
  Tensor iterations;         ///< [B] int64, on the CPU
  Tensor relative_residual;  ///< [B] float64, on the CPU: the true one; of b = 0 it is 0, and so is x
};

/// `preconditioner` approximates A^-1 and is linear; `start` (undefined: zero) is the first guess. No exception where a
/// sample misses the tolerance, and nothing that was finite becomes NaN. Not differentiable.
GmresResult gmres(const LinearMap& a, const LinearMap& preconditioner, const Tensor& b, const Tensor& start = {},
                  const GmresOptions& options = {});

/// `iterations` >= 0 steps towards the same minimum of ||b - A x|| from `start`, as generalised conjugate residuals
/// (Eisenstat, Elman and Schultz, 1983), with nothing else: no tolerance, no restart, no word to the host.
/// Differentiable in b, start and what the maps depend on. A sample that has nothing left stays where it is.
Tensor gmres_steps(const LinearMap& a, const LinearMap& preconditioner, const Tensor& b, const Tensor& start,
                   int64_t iterations);

}  // namespace piddm
