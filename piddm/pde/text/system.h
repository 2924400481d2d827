#pragma once
// The discrete equations of a PDE's text on one grid: residual of any window of time levels, exact Jacobian, initial
// state. Solutions are [B,F,L,X,Y], F fields and L levels (1 of a steady problem); coefficients are one tensor
// [B,C_a,X,Y], scalars constant.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "piddm/pde/text/evaluation.h"
#include "piddm/pde/text/stencil_matrix.h"

namespace piddm {

class TextSystem {
 public:
  /// Parameters of the text have been replaced by numbers. A UsageError for what cannot be discretised, with what to
  /// write instead.
  TextSystem(const PdeText& text, std::array<int64_t, 2> points);

  const TextGrid& grid() const { return grid_; }
  const PdeText& text() const { return grid_.text(); }
  int64_t fields() const { return static_cast<int64_t>(text().solutions.size()); }
  std::array<int64_t, 2> points() const { return {grid_.axes()[0].points, grid_.axes()[1].points}; }

  int order() const { return order_; }        ///< of time: 0, 1 or 2
  int64_t levels() const { return levels_; }  ///< with the initial state; 1 of a steady problem
  double step() const { return step_; }       ///< between levels
  bool linear() const { return linear_; }     ///< in its solutions
  bool spectral() const { return grid_.text().spectral; }

  /// Each equation at rows 1..L-1 (of a steady problem the one row), [B,R,X,Y].
  struct Rows {
    std::vector<Tensor> residual;   ///< left - right
    std::vector<Tensor> reference;  ///< a term of the size that its terms have: with dt or dtt; else the source; else
                                    ///< the first
  };
  Rows rows(const Tensor& u, const Tensor& coefficients) const;
  const std::vector<ExpressionPtr>& references() const { return references_; }  ///< of each equation

  /// Levels 0 and, of second order, the rate there: [B,F,1,X,Y].
  Tensor initial(const Tensor& coefficients) const;
  Tensor initial_rate(const Tensor& coefficients) const;

  /// Where points hold no equation, [F,X,Y] bool, and what solutions are there at some level, [B,F,X,Y], or at several,
  /// [B,F,L,X,Y]; 0 elsewhere.
  const Tensor& ring() const { return ring_; }
  Tensor ring_values(const Tensor& coefficients, int64_t level) const;
  Tensor ring_values(const Tensor& coefficients, int64_t first, int64_t levels) const;

  /// Scored points of field f along an axis: first and number.
  std::pair<int64_t, int64_t> scored(int64_t f, size_t axis) const;

  /// The last row of a window that ends with `unknown` [B,F,X,Y] at `level`; `before` [B,F,1 or 2,X,Y] are the levels
  /// before it (undefined: steady). On the ring unknown - given.
  Tensor row(const Tensor& unknown, const Tensor& before, const Tensor& coefficients, int64_t level) const;

  /// Its Jacobian by the unknown: entries of pattern(), [B,P,F,X,Y]; on the ring the identity.
  Tensor jacobian(const Tensor& unknown, const Tensor& before, const Tensor& coefficients, int64_t level) const;
  const StencilPattern& pattern() const { return pattern_; }

  /// Not with spectral derivatives on two axes: every row sees its whole row and column of points.
  bool has_table() const { return !spectral() || !grid_.axes()[1].present; }

  /// J v without a table, [B,F,X,Y].
  Tensor jacobian_product(const Tensor& unknown, const Tensor& before, const Tensor& coefficients, int64_t level,
                          const Tensor& v) const;

  /// The second difference of field f along an axis with its walls, given values 0: [N,N] float64; rows of the ring
  /// stand for themselves.
  Tensor second_difference(int64_t f, size_t axis) const;

 private:
  std::map<std::string, Dual> inputs(const Tensor& coefficients) const;
  void add_levels(std::map<std::string, Dual>& fields, const std::vector<Dual>& solutions) const;
  std::vector<Dual> window_row(const Dual& unknown, const Tensor& before, const Tensor& coefficients,
                               int64_t level) const;
  Tensor state(const Tensor& coefficients, bool rate) const;
  std::vector<Tensor> over_levels(const Tensor& u, const Tensor& coefficients,
                                  const std::vector<ExpressionPtr>& expressions) const;
  std::array<int64_t, 2> reach() const;
  void check() const;

  TextGrid grid_;
  int order_ = 0;
  int64_t levels_ = 1;
  double step_ = 1;
  bool linear_ = false;
  Tensor ring_;
  StencilPattern pattern_;
  Tensor seeds_;  // of the pattern, without the ring
  std::vector<ExpressionPtr> residuals_, references_;
};

/// Whether e is c + (linear in the fields `unknowns`).
bool is_affine(const Expression& e, const std::vector<std::string>& unknowns);

/// Terms that add up to e.
std::vector<ExpressionPtr> terms_of(const ExpressionPtr& e);

}  // namespace piddm
