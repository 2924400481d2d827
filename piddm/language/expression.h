#pragma once
// An expression over the fields of a PDE as a typed tree: what a parser hands to the discretisation. It holds scalars
// and first derivatives only: grad, div, lap, dot, dxx, dxy, dyy, dtt have been written out
//
//   lap(u) = dx(dx(u)) + dy(dy(u))      div(a*grad(u)) = dx(a*dx(u)) + dy(a*dy(u))      dtt(u) = dt(dt(u))
//
// so that a derivative of a product keeps its flux form.

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace piddm {

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

enum class ExpressionKind {
  number,      ///< value
  parameter,   ///< name: a constant of the equation
  coordinate,  ///< axis
  field,       ///< name: a solution or a coefficient, scalar ones included
  operation,   ///< name and arguments
  derivative,  ///< of the one argument along `axis`
};

/// Of coordinates and derivatives.
enum class Coordinate { x, y, t };

/// Operations by name:
///   + - * / ^           two arguments; "-" with one is the negative
///   < > <= >=           two arguments, 1 where true, else 0
///   where               three: condition, value where it is not 0, value elsewhere
///   min max             two
///   exp log sqrt abs sin cos tan sinh cosh tanh sign step (0 below 0, else 1) harmonic      one
/// `harmonic` changes how its argument is carried to the faces between points (by the harmonic mean, not the mean); at
/// points it is its argument.
struct Expression {
  ExpressionKind kind = ExpressionKind::number;
  double value = 0;
  std::string name = {};
  Coordinate axis = Coordinate::x;
  std::vector<ExpressionPtr> arguments = {};
};

ExpressionPtr number(double value);
ExpressionPtr parameter_named(const std::string& name);
ExpressionPtr coordinate_along(Coordinate axis);
ExpressionPtr field_named(const std::string& name);

/// Numbers are folded where that is finite, and 0 + e, 0 * e, 1 * e, e / 1, e ^ 1, - - e simplified; a UsageError for
/// an unknown name or a wrong number of arguments.
ExpressionPtr operation(const std::string& name, std::vector<ExpressionPtr> arguments);

/// Of a number or a parameter: 0.
ExpressionPtr derivative(ExpressionPtr of, Coordinate axis);

/// How many arguments an operation of this name takes at least and at most; {0, 0}: there is none.
std::pair<int, int> arguments_of_operation(const std::string& name);

/// The same tree.
bool equal(const Expression& a, const Expression& b);

/// Names of the fields (or parameters) in it, each once, in the order of appearance.
std::vector<std::string> fields_of(const Expression& e);
std::vector<std::string> parameters_of(const Expression& e);

/// Whether it has a derivative along an axis; how many times one is within another at most.
bool has_derivative(const Expression& e, Coordinate axis);
int derivative_depth(const Expression& e, Coordinate axis);

/// Partial derivative of a tree by a field, treated as a number; derivatives of fields in it are held. By rules:
/// exact. UsageError for operations without one (comparisons have 0).
ExpressionPtr by_field(const Expression& e, const std::string& field);

/// Partial derivative along an axis of a tree without fields; derivatives in it are worked out too. By rules: exact. A
/// UsageError where it holds a field.
ExpressionPtr by_coordinate(const ExpressionPtr& e, Coordinate axis);

/// The tree with every derivative of something without fields worked out.
ExpressionPtr without_known_derivatives(const ExpressionPtr& e);

/// The tree with each field of this name replaced.
ExpressionPtr with_field(const ExpressionPtr& e, const std::string& field, const ExpressionPtr& by);

/// e = sum_i c_i d_i + rest, where d_i are `parts` (fields or their derivatives) and neither c_i nor rest holds any
/// field in `unknowns`: {c_1, .., c_n, rest}. Empty where e is not of that form.
std::vector<ExpressionPtr> linear_in(const ExpressionPtr& e, const std::vector<ExpressionPtr>& parts,
                                     const std::vector<std::string>& unknowns);

}  // namespace piddm
