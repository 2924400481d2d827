#pragma once
// From what was written (parser.h) to a typed tree of scalars and first derivatives (expression.h). Everything is a
// scalar or a vector with one component per space axis:
//
//   dt(s) dtt(s) dx(s) dy(s) dxx(s) dxy(s) dyy(s) lap(s)    scalars of a scalar
//   grad(s)                                                 a vector of a scalar
//   div(v)  dot(v, w)                                       scalars of vectors
//   [s, ..]  v + w  v - w  -v  s*v  v*s  v/s                vectors
//
// Factors go into the components, so div(a*grad(u)) is dx(a*dx(u)) + dy(a*dy(u)).

#include <map>
#include <string>
#include <vector>

#include "piddm/language/expression.h"
#include "piddm/language/parser.h"

namespace piddm {

constexpr size_t kMaxExpressionNodes = 20000;  ///< of a tree with its operators written out

/// What an expression may hold.
struct Scope {
  std::map<std::string, ExpressionKind> names = {};  ///< field or parameter
  std::vector<Coordinate> space = {};                ///< axes of the PDE
  bool time = false;
  std::string without_time = {};         ///< not empty: no t, for this reason, though the PDE has it
  std::string without_derivatives = {};  ///< not empty: none, for this reason
  std::vector<std::string> normal = {};  ///< fields whose dn(..) may stand, as fields called normal_derivative(..)
};

/// "dn(u)", which no name can be.
std::string normal_derivative(const std::string& field);

/// A UsageError with its place for an unknown name, a vector where a scalar belongs, an axis that is not there.
ExpressionPtr lower(const Syntax& e, const Scope& scope, const SourceText& source);

/// Names of functions and operators, of coordinates and constants: no field may have them.
bool is_reserved_name(const std::string& name);

}  // namespace piddm
