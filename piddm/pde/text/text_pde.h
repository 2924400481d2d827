#pragma once
// A PDE made from its text (language/pde_text.h): fields, law, compact second-order residual, solver and decode follow
// from the equation.
//
//   x, y      one channel per solution and coefficient, H = x, W = y
//   x, t      H = x, W = t; coefficients that are fields depend on x only and are constant along t
//   x, y, t   the solution at every time but the first is a channel: u1, u2, ..; the residual's fields hold the steps
//             side by side along W
//
// r_phys is left - right (pde/text/evaluation.h says how derivatives are taken); scored are all points that hold an
// equation, at every time but the first. The boundary part is the difference to given values on nodes and, of x and t,
// to the initial state. The reference term is the one with dt or dtt; of a steady problem the source, or else the first
// term.
//
// Scale: R = c r_phys with c = 10 / (s |J|), s the standard deviation of the solution and |J| the root mean square of
// the residual for white noise of size 1 on it. So white noise of 1 % of s has a pde_error of 0.01, whatever the
// equation and the grid. s comes from 8 samples of the law on a grid of at most 32 points, or from `scale = { u = .. }`
// in the text, |J| from the same samples on the grid itself; c is rounded to two digits. All with the constants and
// lengths as the text has them: c is a unit, and --param does not change it.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "piddm/language/pde_text.h"
#include "piddm/pde/pde.h"
#include "piddm/pde/text/law.h"
#include "piddm/pde/text/solver.h"

namespace piddm {

/// The options of the PDE in this table: its name, its grid, the table as definition.
PdeOptions options_of_text(const json& table, const std::string& origin);

class TextPde : public Pde {
 public:
  /// From options.definition. A UsageError for a text that does not hold together, and for one without coefficients.
  explicit TextPde(PdeOptions options);

  const std::vector<Channel>& channels() const override { return channels_; }
  GridAxes axes() const override;
  std::string summary() const override;
  bool has_law() const override { return law_.complete(); }
  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override;
  Tensor solve(const Tensor& coefficients, const Tensor& start = {}, SolveReport* report = nullptr) const override;
  std::vector<Equation> equations() const override;
  Residual residual(const Tensor& x) const override;

  /// Given values on nodes and the initial state put in their places.
  Tensor constrain(const Tensor& x) const override;
  Tensor given_boundary() const override;

  /// (c0 + kx d_xx + ky d_yy)^-1 with the means of the equation's own entries over samples of the law: of one steady
  /// equation whose rows are symmetric along each axis, where that has eigenvalues of one sign.
  Tensor precondition(const Residual& r) const override;
  bool has_preconditioner() const override;

  /// Conjugate gradients, or GMRES where it is not symmetric, on the sample's own Jacobian: of one linear, steady
  /// equation with a preconditioner.
  Tensor correct(const Tensor& x, int64_t iterations) const override;
  bool has_corrector() const override;

  /// A field of a problem in x and t is replaced by its mean over t first.
  Admissible admissible(const Tensor& coefficients) const override;

  /// A steady problem is solved from the sample's own solution.
  Decoded decode(const Tensor& x) const override;

  const PdeText& text() const { return text_; }  ///< as written
  const TextSystem& system() const { return solver_.system(); }
  const TextSolver& solver() const { return solver_; }

  /// Fields on the grid as the system takes them: [B,C_a,X,Y], [B,F,L,X,Y]; and back to channels.
  Tensor system_coefficients(const Tensor& coefficients) const;
  Tensor system_solution(const Tensor& solution, const Tensor& system_coefficients) const;
  Tensor solution_channels(const Tensor& u) const;

  /// Typical sizes of the solutions, s above.
  std::vector<double> sizes() const;

 private:
  struct Scale {
    std::vector<double> c;      ///< of each equation
    std::vector<double> sizes;  ///< of each solution
  };
  struct Operator {
    Tensor inverse_eigenvalues;  ///< of the separable solver; undefined: none that would do
    bool symmetric = false;      ///< the Jacobian itself is
  };
  TextPde(PdeOptions options, const PdeText& text);
  PdeText with_options(PdeText text);
  std::array<int64_t, 2> space_points() const;
  void make_channels();
  Channel solution_channel(const FieldText& field) const;
  ZeroOn zero_on(const std::string& field) const;
  const Scale& scale() const;
  const Operator& own_operator() const;
  Scale measured_scale() const;
  Operator measured_operator() const;
  Tensor typical_coefficients() const;
  Tensor typical_solution(const Tensor& coefficients, std::vector<double>& sizes) const;
  bool planar_in_time() const { return planar_ && timed_; }
  Tensor picture(const Tensor& rows, size_t equation) const;
  Tensor given_ring(const Tensor& a, int64_t first, int64_t levels) const;
  Tensor imposed(const Tensor& u, const Tensor& a) const;
  Tensor boundary_error(const Tensor& u, const Tensor& a) const;
  Tensor solve_from(const Tensor& a, const Tensor& start, SolveReport* report) const;

  PdeText text_;
  bool timed_, planar_;  ///< has t; has y
  TextSolver solver_;
  TextLaw law_;
  std::vector<Channel> channels_;
  mutable std::shared_ptr<const Scale> scale_;
  mutable std::shared_ptr<const Operator> operator_;
  bool ring_ = false, ring_moves_ = false;  ///< points hold given values; they depend on t
  bool ring_is_zero_ = true;                ///< as far as the walls are
  std::vector<Tensor> ring_places_;         ///< where: along F, L without the initial state, X and Y, each [m]
};

/// What `pde show` says of it.
struct TextPdeSummary {
  std::vector<std::string> equations, latex;  ///< in Unicode and LaTeX
  std::string kind;                           ///< "nonlinear, first order in time, one field"
  std::string stencil, solver, residual;      ///< in words
  std::vector<std::string> walls, initial;    ///< as discretised, in words
};

TextPdeSummary summary_of(const TextPde& pde);

}  // namespace piddm
