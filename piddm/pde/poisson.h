#pragma once
// Poisson on a rectangle:  Laplace u = a in (0,L_x) x (0,L_y),  u = 0 on the wall;  the unit square by default.
//
// Node grid x_i = i h_x, h_x = L_x/(H-1), y_j = j h_y, h_y = L_y/(W-1), both ends stored, so the outer ring of nodes
// lies on the wall. At the (H-2)(W-2) inner nodes
//   r_phys = (u_W - 2 u_P + u_E)/h_x^2 + (u_S - 2 u_P + u_N)/h_y^2 + s u_P - a_P,   c = h_x h_y,   reference term a
// with s = 0 here and s = k^2 for Helmholtz, which shares this class; the boundary residual is u on the ring. Second
// order. The solver is direct (sine transform of the inner nodes): its data satisfy the residual to round-off.
//
// Law of a: a Gaussian field with covariance 9 (-Laplace + 9)^-2 (gaussian_field.h). As in the DiffusionPDE generator,
// the H x W values of the field at the cell centres are stored as the node values of a.

#include "piddm/numerics/fast_poisson.h"
#include "piddm/numerics/random_fields/gaussian_field.h"
#include "piddm/pde/pde.h"

namespace piddm {

class Poisson : public Pde {
 public:
  explicit Poisson(PdeOptions options);

  /// u (zero on the ring) and a.
  const std::vector<Channel>& channels() const override;
  GridAxes axes() const override;
  const Lengths& lengths() const { return lengths_; }
  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override;

  /// Direct: no iterations, a start is not used.
  Tensor solve(const Tensor& coefficients, const Tensor& start = {}, SolveReport* report = nullptr) const override;

  /// interior [B,1,H-2,W-2], boundary [B,2(H+W-2)] (first row, last row, then the two columns between them).
  Residual residual(const Tensor& x) const override;
  std::vector<Equation> equations() const override;

  /// u = 0 on the ring; a stays as it is.
  Tensor constrain(const Tensor& x) const override;

  /// The ring.
  Tensor given_boundary() const override;

  /// The direct solver itself: exactly the error of a u that is right on the ring, with the sign of r: L u = r.
  Tensor precondition(const Residual& r) const override;
  bool has_preconditioner() const override { return true; }

  /// The direct solver: the solution itself, whatever u was.
  Tensor correct(const Tensor& x, int64_t iterations) const override;
  bool has_corrector() const override { return true; }

 protected:
  /// The ring of the field [...,H,W] set to zero.
  Tensor without_ring(const Tensor& field) const;

  /// Adds s u to the operator. A UsageError where s is too close to an eigenvalue of -Laplace for a unique solution.
  void set_shift(double shift, const std::string& cause);

 private:
  double spacing(size_t axis) const {
    return lengths_[axis] / static_cast<double>((axis == 0 ? grid().height() : grid().width()) - 1);
  }
  Box inner_box() const;
  Tensor apply(const Tensor& u) const;
  Tensor solve_inner(const Tensor& f) const;

  double shift_ = 0;
  Lengths lengths_;
  GaussianField field_;
  FastPoisson solver_;
};

}  // namespace piddm
