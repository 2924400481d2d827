#pragma once
// The order of accuracy of a PDE's text, against a solution known beforehand.
//
// Smooth functions of x, y and t stand for solutions and coefficients: waves of less than one period, within the range
// that samples have. What the equations, the walls and the initial state leave of them is worked out from the trees by
// rules and given to the problem as forcing, so that the functions are its exact solution:
//
//   left = right            becomes   left = right + (left - right)(exact)
//   value u + slope dn(u)   becomes   (value u + slope dn(u))(exact)
//
// The discrete equations (system.h) are then solved as those of the text are. Halving all steps, those in time too,
// divides the error by 2^order; the stencils are of order 2, spectral derivatives end at round-off.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "piddm/language/interval.h"
#include "piddm/pde/text/solver.h"

namespace piddm {

struct ManufacturedProblem {
  PdeText text;                                ///< with forcing; its parameters are numbers
  std::map<std::string, ExpressionPtr> exact;  ///< of every solution and coefficient, in coordinates
  std::map<std::string, double> size;          ///< of each solution's wave
};

/// `usual` has the range of every solution and coefficient; parameters of the text have been replaced by numbers.
ManufacturedProblem manufactured_problem(const PdeText& text, const std::map<std::string, Interval>& usual);

/// Root mean square of u - exact over all points and times, for each solution in units of its wave. `intervals` along
/// x (y and t in proportion).
std::vector<double> manufactured_errors(const ManufacturedProblem& problem, int64_t intervals);

struct Convergence {
  std::vector<int64_t> intervals;           ///< along x, of each grid
  std::vector<std::vector<double>> errors;  ///< [grid][solution]
  double duration = 0;                      ///< time that was solved for; 0: steady

  /// Observed between the two finest grids.
  double order(size_t solution) const;
  double finest(size_t solution) const { return errors.back()[solution]; }
};

/// On four grids. A problem in time is solved over as much of its duration as small errors grow tenfold in at most:
/// beyond it they say more of the equation than of its stencil.
Convergence measure_convergence(const PdeText& text, const std::map<std::string, Interval>& usual);

/// What of the equations or of the factors of wall conditions is not smooth, by its name: "where"; empty: nothing. The
/// stencils need not be of order 2 there.
std::string not_smooth(const PdeText& text);

}  // namespace piddm
