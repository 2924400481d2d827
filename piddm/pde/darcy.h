#pragma once
// Darcy flow on a rectangle:  -div(a grad u) = 1 in (0,L_x) x (0,L_y),  u = 0 on the wall;  the unit square by default.
//
// Finite volumes on the cell-centred grid x_i = (i+1/2) h_x, h_x = L_x/H, y_j = (j+1/2) h_y, h_y = L_y/W (the wall lies
// half a cell outside the first centre):
//   (A u)_P = sum_faces w (u_P - u_N)/h^2,   h across the face,   w = (a_P + a_N)/2 inside
//             a face on the wall: 2 a_P (u_P - 0), that is a ghost value of -u
//   r_phys  = 1 - A u at every cell,   c = 115 h_x h_y,   reference term 1
// A is symmetric positive definite, second-order accurate for smooth a.
//
// Law of a: 12 where g >= 0, 3 where g < 0, g a Gaussian field with covariance 9 (-Laplace + 9)^-2 (gaussian_field.h).
// Data generated this way differ by 0.11 % in L2 from those of the DiffusionPDE generator, which interpolates a and u
// between two grids, and satisfy the residual to round-off.

#include "piddm/numerics/conjugate_gradient.h"
#include "piddm/numerics/random_fields/gaussian_field.h"
#include "piddm/pde/other_forms.h"
#include "piddm/pde/pde.h"

namespace piddm {

/// w of an inner face: (a_P + a_N)/2 or 2 a_P a_N/(a_P + a_N). The library's data have arithmetic means; harmonic ones
/// are what many other programs take.
enum class FaceMean { arithmetic, harmonic };

/// A for given coefficients a = [B,1,H,W] > 0; differentiable in a and u, in their dtype, on their device.
class DarcyOperator {
 public:
  explicit DarcyOperator(const Tensor& a, const Lengths& lengths = {1, 1}, FaceMean mean = FaceMean::arithmetic);

  /// A u, [B,1,H,W].
  Tensor apply(const Tensor& u) const;

  /// A u = f by conjugate gradients, preconditioned with the solver of the constant-coefficient problem. The error
  /// falls by (sqrt(q)-1)/(sqrt(q)+1) per iteration, q = max a/min a, whatever the grid: 1/3 for {3,12}. Composed of
  /// tensor operations: any device, float32 and float64.
  CgResult solve(const Tensor& f, const Tensor& start = {}, const CgOptions& options = {}) const;

  /// As many iterations of the same from u; differentiable in u, f and a.
  Tensor correct(const Tensor& f, const Tensor& u, int64_t iterations) const;

 private:
  Lengths lengths_;
  Tensor weights_x_, weights_y_;  // -w/h^2 of the faces, [B,1,H+1,W] and [B,1,H,W+1]
};

/// u of -div(a grad u) = 1 for a = [B,1,H,W] float64: on the CPU by the kernel of diffusion_cg.h, elsewhere by
/// DarcyOperator::solve; both stop by the same rule.
CgResult solve_darcy(const Tensor& a, const Tensor& start = {}, const CgOptions& options = {},
                     const Lengths& lengths = {1, 1});

class Darcy : public Pde, public OtherForms {
 public:
  /// Below this a generated coefficient is not taken as it is: the equation needs a > 0, and its solution grows like
  /// 1/a.
  static constexpr double kCoefficientFloor = 0.05;

  explicit Darcy(PdeOptions options);

  /// u (vanishes on the wall) and a (3 or 12).
  const std::vector<Channel>& channels() const override;
  GridAxes axes() const override;
  const Lengths& lengths() const { return lengths_; }
  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override;

  /// To a relative residual of 1e-12, or as near as float64 allows (about 1e-11 at 1024 x 1024). Any a >=
  /// kCoefficientFloor; else a DataError.
  Tensor solve(const Tensor& coefficients, const Tensor& start = {}, SolveReport* report = nullptr) const override;

  /// Scored at all cells; float32 or float64.
  Residual residual(const Tensor& x) const override;
  std::vector<Equation> equations() const override;

  /// Harmonic means on the faces.
  std::vector<OtherForm> other_forms() const override;

  /// -6 Laplace v = r solved by sine transforms; 6 = sqrt(3 * 12).
  Tensor precondition(const Residual& r) const override;
  bool has_preconditioner() const override { return true; }

  /// On the CPU by correct_diffusion (numerics/diffusion_cg.h), elsewhere by DarcyOperator::correct. Entries of a below
  /// kCoefficientFloor count as that; a itself stays as it is.
  Tensor correct(const Tensor& x, int64_t iterations) const override;
  bool has_corrector() const override { return true; }

  /// u of the outermost cells set to what u = 0 on the wall asks for if u is linear there: a third of the next cell's
  /// (a ninth of the diagonal neighbour's in the corners). a stays as it is.
  Tensor constrain(const Tensor& x) const override;

  /// Entries of a below kCoefficientFloor are raised to it in the result too, and counted in `clamped`.
  Decoded decode(const Tensor& x) const override;

 private:
  Residual residual_with(const Tensor& x, FaceMean mean) const;

  Lengths lengths_;
  GaussianField field_;
};

}  // namespace piddm
