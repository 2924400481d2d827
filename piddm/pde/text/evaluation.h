#pragma once
// Values of expressions on the grid of a PDE's text: compact second-order stencils by one walk through the tree.
//
//   dx(E), E with a derivative along x in it   flux form: E on the faces, differenced: dx(a*dx(u)) is
//                                              (a_{i+1/2} (u_{i+1} - u_i)/h - a_{i-1/2} (u_i - u_{i-1})/h)/h
//   dx(E), E without                           (E_{i+1} - E_{i-1})/2h: differences of the mean of E on the faces
//   a field on a face                          mean of its two points; harmonic(a): their harmonic mean
//
// Walls, value u + slope dn(u) = given, dn the outward normal derivative:
//
//   cells   the wall is a face half a cell from the first point u_0:
//           dn(u) = (given - value u_0)/(slope + value h/2),  u_wall = u_0 + h/2 dn(u)
//   nodes   the wall is a point. With a given value it holds no equation; else dn(u) = (given - value u_0)/slope, and a
//           flux form takes half a cell: dx(E)_0 = (E_{1/2} - E_wall)/(h/2)
//
// On a wall a coefficient is that of the nearest cell where all solutions are given there, else extrapolated from two
// cells, by at most a factor of 2; of nodes it is its own. dn of an operation follows the chain rule.
// On axes with spectral matrices derivatives are products with them.

#include <map>
#include <utility>

#include "piddm/pde/text/dual.h"
#include "piddm/pde/text/text_grid.h"

namespace piddm {

class TextEvaluation {
 public:
  /// `fields`: solutions [...,L,X,Y] with the L levels of the window, coefficients [...,1,X,Y], scalars [...,1,1,1].
  /// All of one floating dtype and device.
  TextEvaluation(const TextGrid& grid, std::map<std::string, Dual> fields, const TimeWindow& window,
                 const torch::TensorOptions& options);

  /// e at the points and rows: [...,R,X,Y] (or smaller where it is constant).
  Dual operator()(const ExpressionPtr& e) { return at(e, {}); }
  Dual at(const ExpressionPtr& e, const Place& place);

 private:
  Dual compute(const ExpressionPtr& e, const Place& place);
  Dual coordinate(Coordinate axis, const Place& place) const;
  Dual field(const std::string& name, const Place& place);
  Dual stored(const std::string& name, bool levels) const;
  Dual carried(const std::string& name, size_t axis, const Place& place);
  Dual on_wall(const std::string& name, size_t axis, bool high, const Place& inside, bool slope);
  Dual coefficient_on_wall(const Dual& inside, size_t axis, bool high, bool slope) const;
  Dual operation_at(const ExpressionPtr& e, const Place& place);
  Dual slope_of_operation(const ExpressionPtr& e, size_t axis, bool high, const Place& place);
  Dual harmonic_on_faces(const ExpressionPtr& argument, size_t axis, const Place& place);
  Dual along_space(const ExpressionPtr& e, const Place& place);
  Dual difference_of_points(const ExpressionPtr& of, size_t axis, const Place& place);
  Dual difference_of_faces(const ExpressionPtr& of, size_t axis, const Place& place);
  Dual difference_at_nodes(const ExpressionPtr& of, size_t axis, const Place& place, const Dual& faces, bool flux);
  Dual mean_on_faces(const ExpressionPtr& of, size_t axis, const Place& place);
  Dual along_time(const ExpressionPtr& of, const Place& place);
  Dual rows_of(const Dual& levels) const;
  Dual spectral(const ExpressionPtr& of, size_t axis, const Place& place);
  bool all_given(const Expression& e, size_t axis, bool high) const;
  Dual constant(double value) const;
  ExpressionPtr named(const std::string& name);

  const TextGrid& grid_;
  std::map<std::string, Dual> fields_;
  TimeWindow window_;
  torch::TensorOptions options_;
  std::map<std::pair<const Expression*, int>, Dual> known_;
  std::vector<ExpressionPtr> kept_;  // what known_ points to
  std::map<std::string, ExpressionPtr> named_;
};

}  // namespace piddm
