#pragma once
// The PDE as equations h(z) = 0 for a sample z in network units, their norm, their linearisation, and the projection
// onto them.
//
//   h(z) = (c r_phys, B / std(u)),  M rows per sample: the residual of each equation at its scored points, then
//                                   boundary and initial conditions
//   J = dh/dz over the free entries; products with J and J^T by automatic differentiation, J itself is never formed
//
// Gauss-Newton:  z <- z - J^T (J J^T + eps)^-1 h(z),  the least change that meets the linearised equations, halved
//                until |h| falls.
//
// J J^T is inverted by conjugate gradients, preconditioned with the PDE's fast solver, (c std(u))^-2 L^-T L^-1, where
// the solution is (mostly) free, else plain. eps = damping times the mean square row of J: where the equations
// contradict each other (more rows than free entries) it is their least squares.

#include "piddm/model/model.h"

namespace piddm {

/// The mean of h^2 over the scored points and the equations + boundary times that over boundary and initial conditions,
/// [B], for z [B,C,H,W] in network units. Differentiable.
Tensor residual_norm(const Model& model, const Tensor& z, double boundary);

class EquationRows;

/// The same for the error of the solution that the residual stands for, L^-1 r, in standard deviations of the solution;
/// for a PDE with a fast solver L.
Tensor implied_error_norm(const EquationRows& rows, const Tensor& z, double boundary);

class EquationRows {
 public:
  EquationRows(PdePtr pde, Normalizer normalizer);

  /// h(z), [B,1,1,M]; differentiable, in the dtype of z.
  Tensor operator()(const Tensor& z) const;

  /// The parts of h or of anything like it: [B,1,h,w] of each equation, and [B,1,1,m] (m = 0 where a PDE has no such
  /// part).
  std::vector<Tensor> equations(const Tensor& rows) const;
  Tensor boundary(const Tensor& rows) const;

  /// L^-1 r_phys for rows like h, each solution channel in its `unit`: [B,C_u,h,w].
  Tensor implied_error(const Tensor& rows, double (Normalizer::*unit)(int64_t) const) const;

  /// The largest curvature of the mean of h^2 over the scored points and the equations (no boundary), at the mean of
  /// the data and at two samples of its law: the largest eigenvalue of 2 J^T J / M. A gradient step s on that mean
  /// overshoots where s times it is above 2.
  double curvature() const;

  /// Bytes that h and its derivatives take for one sample in float64: about forty fields of each channel.
  int64_t bytes_per_sample() const { return 8 * 40 * pde_->num_channels() * pde_->grid().points(); }

  /// (J J^T)^-1 h for a J whose free channels are the solution's: applied to the equations' part of [B,1,1,M].
  Tensor solve_normal(const Tensor& rows) const;

  const Pde& pde() const { return *pde_; }
  const Normalizer& normalizer() const { return normalizer_; }

 private:
  Tensor solve_several(const Tensor& rows) const;

  /// The equations' part of rows as a residual, c_0 r_phys, c_0 the scale of the first equation.
  Residual residual(const Tensor& rows) const;

  struct Part {
    int64_t height, width;  // of the scored points
    double to_first;        // c_0 / c
  };
  PdePtr pde_;
  Normalizer normalizer_;
  std::vector<Part> parts_;  // one for each equation
  int64_t inside_ = 0;       // rows of all equations
};

/// h and J at z; `free` is 1 where an entry may change, else 0. Works in any grad mode.
class LinearizedRows {
 public:
  LinearizedRows(const EquationRows& rows, const Tensor& z, const Tensor& free);

  const Tensor& value() const { return value_; }  ///< h(z), [B,1,1,M]
  Tensor transposed(const Tensor& rows) const;    ///< J^T of [B,1,1,M], like z; 0 where not free
  Tensor product(const Tensor& direction) const;  ///< J of something like z

  /// Estimates of |J|_F^2 / M from one random vector, [B,1,1,1]: over the free entries, and over all.
  const Tensor& mean_square_row() const { return free_row_; }
  const Tensor& whole_row() const { return whole_row_; }

 private:
  Tensor free_, z_, rows_, dummy_, pulled_, value_, free_row_, whole_row_;
};

struct ProjectionOptions {
  int64_t newton = 1;       ///< Gauss-Newton steps
  int64_t iterations = 20;  ///< of conjugate gradients in each, at most
  double tolerance = 1e-2;  ///< of conjugate gradients
  double damping = 1e-9;
};

struct Projection {
  Tensor z;

  /// [B] RMS of h over the RMS row of dh/dz: how far, in network units, a sample is from meeting an equation.
  Tensor violation;
};

/// z moved onto the equations, entries that are not free unchanged. No gradient. Steps that do not lower |h| are not
/// taken; it ends early where the equations are met to round-off or a step gains nothing.
Projection project(const EquationRows& rows, const Tensor& z, const Tensor& free, const ProjectionOptions& options);

}  // namespace piddm
