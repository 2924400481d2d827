#pragma once
// The grid of a PDE's text: space axes, walls, time levels; and where on it an expression is evaluated.
//
// A field is a tensor [...,T,X,Y]: T time levels, X and Y points along the space axes (Y = 1 where there is only x). An
// axis with one entry stands for a constant along it.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/language/pde_text.h"

namespace piddm {

constexpr int64_t kTimeDim = -3;

/// Along one space axis.
enum class Site {
  points,  ///< the grid's own points
  faces,   ///< half-way between points; of cells with both walls
  low,
  high,  ///< on a wall
  low_slope,
  high_slope  ///< the outward normal derivative there, not the value
};

struct Place {
  Site x = Site::points, y = Site::points;
  bool levels = false;  ///< at every stored time level, not at the rows of the equation

  Site site(size_t axis) const { return axis == 0 ? x : y; }
  Place with(size_t axis, Site site) const;
};

struct SpaceAxis {
  AxisText::Kind kind = AxisText::Kind::cells;
  int64_t points = 1;
  double length = 1, spacing = 1;
  bool present = true;                      ///< y of a problem in x and t is not
  Tensor spectral_1 = {}, spectral_2 = {};  ///< [N,N] float64, first and second derivative; undefined: stencils

  bool walls() const { return present && kind != AxisText::Kind::periodic; }
  int64_t dim = -2;

  /// Coordinates at a site, float64 [n].
  Tensor coordinates(Site site) const;
};

/// Which levels a window of a problem in time holds, and which rows of the equation they give.
///
///   order 1 (dt)    BDF2:     row n   dt(e) = (3 e_n - 4 e_{n-1} + e_{n-2}) / 2 dt, all else at level n;
///                             row 1   dt(e) = (e_1 - e_0) / dt
///   order 2 (dtt)   Newmark:  row n   dtt(e) = (e_{n+1} - 2 e_n + e_{n-1}) / dt^2, dt(e) = (e_{n+1} - e_{n-1}) / 2 dt,
///                             all else of the mean (u_{n+1} + 2 u_n + u_{n-1}) / 4;
///                             u_{-1} = u_1 - 2 dt u'(0) before the first level
struct TimeWindow {
  int order = 0;       ///< 0: steady, one level
  double step = 1;     ///< dt
  int64_t first = 0;   ///< number of the window's first level; -1: the one before the initial state
  bool last = false;   ///< only the last row
  int64_t levels = 1;  ///< where no solution is there to tell
};

class TextBands;

class TextGrid {
 public:
  /// Parameters of the text have been replaced by numbers.
  TextGrid(const PdeText& text, std::array<int64_t, 2> points);

  const std::array<SpaceAxis, 2>& axes() const { return axes_; }
  const PdeText& text() const { return text_; }
  bool is_solution(const std::string& name) const;
  bool is_scalar(const std::string& name) const;

  /// Of a solution on an axis with walls.
  const WallText& wall(const std::string& field, size_t axis, bool high) const;

  /// Whether the condition gives the value itself: its slope is 0.
  bool gives_value(const std::string& field, size_t axis, bool high) const;

  /// Whether points on this wall hold no equation: nodes with a given value.
  bool is_ring(const std::string& field, size_t axis, bool high) const;

  /// Whether all solutions are given on this wall: a coefficient there is that of the nearest cell, and points of nodes
  /// hold no equation.
  bool all_given(size_t axis, bool high) const;

  const TextBands& bands() const { return *bands_; }

 private:
  PdeText text_;
  std::array<SpaceAxis, 2> axes_;
  std::shared_ptr<const TextBands> bands_;
};

/// The text with its parameters replaced by these numbers (name, value).
PdeText with_numbers(const PdeText& text, const std::vector<std::pair<std::string, double>>& parameters);

/// The expression with parameters replaced by numbers.
ExpressionPtr with_numbers(const ExpressionPtr& e, const std::vector<std::pair<std::string, double>>& parameters);

}  // namespace piddm
