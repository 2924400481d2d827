#pragma once
// The Jacobian of a discrete system whose rows see neighbours only, as a table of entries: many samples at once.
//
// Unknowns are [F,X,Y], F fields. Columns are coloured so that no row sees two columns of one colour; J v for the sum
// of the columns of a colour then holds all their entries. With a reach of one point in each direction there are 3 x 3
// colours per field.

#include <array>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

/// Which rows see which columns. The same for all samples.
class StencilPattern {
 public:
  /// `reach`: how many points a row sees on each side along x and y; a reach of at least the axis sees all of it.
  StencilPattern(int64_t fields, std::array<int64_t, 2> points, std::array<int64_t, 2> reach,
                 std::array<bool, 2> periodic);

  /// [P,F,X,Y] float64, one where a column has that colour.
  const Tensor& seeds() const { return seeds_; }

  int64_t colours() const { return seeds_.size(0); }
  int64_t unknowns() const { return fields_ * points_[0] * points_[1]; }
  int64_t fields() const { return fields_; }
  const std::array<int64_t, 2>& points() const { return points_; }

  /// [P,X,Y] int64: the column of this colour that the rows at a point see; 0 where there is none.
  const Tensor& columns() const { return columns_; }
  const Tensor& seen() const { return seen_; }  ///< [P,X,Y] bool: there is one

  /// [P,F,X,Y] float64: one at the entry of a row's own unknown, of its neighbours along an axis, of all of its field.
  Tensor own() const { return related(0, 0); }
  Tensor neighbours(size_t axis) const;
  Tensor same_field() const;

 private:
  Tensor related(int64_t shift_x, int64_t shift_y) const;

  int64_t fields_;
  std::array<int64_t, 2> points_;
  std::array<bool, 2> periodic_;
  Tensor seeds_, columns_, seen_;
  std::vector<int64_t> field_of_colour_;
};

/// y = J v and J^T w for entries [B,P,F,X,Y]; v, y: [B,F,X,Y].
Tensor stencil_product(const StencilPattern& pattern, const Tensor& entries, const Tensor& v);
Tensor stencil_transposed(const StencilPattern& pattern, const Tensor& entries, const Tensor& w);

}  // namespace piddm
