#pragma once
// A PDE as its text says: twelve lines of TOML, read strictly into typed trees. Nothing of the text is ever executed.
//
//   name = "fisher"
//   equation = "dt(u) = D*lap(u) + r*u*(1 - u)"         several: equations = { u = "...", v = "..." }
//   grid = { x = [0, 2, 64, "cells"], t = [0, 1, 33] }
//   boundary = { x = "dn(u) = 0" }                       per axis or per wall: x_low, x_high, y_low, y_high
//   initial = "u = u0"                                   of several fields, or with dt(u): a list
//   coefficients = { u0 = "field: gauss(alpha=2, tau=3) -> 0.5 + 0.5*tanh(g)", D = "uniform(0.001, 0.01)" }
//   parameters = { k = 1.5 }                             constants that --param changes
//
// docs/pde-language.md has the whole language.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/language/expression.h"

namespace piddm {

constexpr int64_t kFewestPoints = 16, kMostPoints = 1024;  ///< along an axis of a picture; of t besides x and y: 2 ..
constexpr size_t kMostSolutions = 8, kMostCoefficients = 32, kMostParameters = 64;

struct AxisText {
  enum class Kind { cells, nodes, periodic, time };
  Coordinate axis = Coordinate::x;
  Kind kind = Kind::cells;
  double length = 1;
  int64_t points = 0;  ///< of time: with the initial state
  std::string unit = {}, title = {};
};

/// value * u + slope * dn(u) = given on one wall, dn the outward normal derivative. `value`, `slope` and `given` hold
/// coordinates, parameters and coefficients only.
struct WallText {
  std::string field;
  Coordinate axis = Coordinate::x;
  bool high = false;
  ExpressionPtr value, slope, given;
  std::string text;  ///< as written
};

/// u = state (or dt(u) = state) at t = 0.
struct InitialText {
  std::string field;
  bool rate = false;
  ExpressionPtr state;
};

struct FieldText {
  std::string name = {}, unit = {}, title = {};
  double scale = 0;  ///< typical size of a solution, 0: not said
};

/// How a coefficient is drawn.
struct LawText {
  enum class Kind {
    data,        ///< not at all: comes from the user's data
    uniform,     ///< low .. high
    loguniform,  ///< low .. high
    normal,      ///< mean low, standard deviation high
    field,       ///< `map` of a Gaussian field g
  };
  enum class Family { cosine, sine, periodic };  ///< of g: gauss(..), sine(..), periodic(..)
  Kind kind = Kind::data;
  double low = 0, high = 1;
  Family family = Family::cosine;
  double alpha = 2, tau = 3, scale = 1;  ///< g has covariance scale^2 tau^(2 alpha - 2) (-Laplace + tau^2)^-alpha
  ExpressionPtr map;                     ///< of the field named "g", coordinates and parameters
};

struct CoefficientText {
  FieldText field;
  bool scalar = false;
  LawText law;
  std::optional<std::pair<double, double>> valid;       ///< from `valid = { a = [0.1, 20] }`, else what the law implies
  std::optional<std::pair<double, double>> two_valued;  ///< where the map is where(condition, number, number)
};

struct EquationText {
  std::string name;  ///< the field it belongs to, of several; else empty
  ExpressionPtr left, right;
  std::string text;     ///< as written
  std::string unicode;  ///< "∂ₜu = D ∇²u + r u (1 − u)"
  std::string latex;

  ExpressionPtr residual() const { return operation("-", {left, right}); }
};

struct PdeText {
  std::string name, title;
  std::vector<AxisText> axes;        ///< x; x, y; x, t; or x, y, t
  std::vector<FieldText> solutions;  ///< these and what follows in alphabetical order: TOML's tables have none
  std::vector<CoefficientText> coefficients;
  std::vector<std::pair<std::string, double>> parameters;
  std::vector<EquationText> equations;  ///< one for each solution, in their order
  std::vector<WallText> walls;          ///< none on periodic axes
  std::vector<InitialText> initial;     ///< of problems in time
  bool spectral = false;                ///< derivatives = "spectral": along periodic axes

  const AxisText* axis(Coordinate which) const;  ///< null: there is none
  const CoefficientText* coefficient(const std::string& name) const;
};

/// Reads the table of a PDE file; `origin` names it in errors, which say line and column within an expression, what was
/// expected and the nearest name. An unstated wall, an equation too many or few, an unknown name are UsageErrors.
PdeText read_pde_text(const json& table, const std::string& origin);

}  // namespace piddm
