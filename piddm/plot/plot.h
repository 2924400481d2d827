#pragma once
// The pictures of reports: sheets of fields and line charts.
//
// Orientation of every field: H = x runs to the right, W = y (or time) upwards, so the entry [0,0] is at the
// lower left.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/plot/canvas.h"

namespace piddm {

struct Panel {
  std::string title;
  Tensor field;                                         ///< [H,W]
  std::optional<std::pair<double, double>> range = {};  ///< ends of the colour bar; values outside take the end colours
  Colors colors = Colors::sequential;
  bool gaps = false;                       ///< NaN stands for "not known": drawn grey and not counted
  std::string x_label = {}, y_label = {};  ///< letters at the ends of the two axes
};

/// Rows of panels, each with its title, a colour bar and the numbers at its ends. Without `range` the bar spans the
/// finite values; a diverging one is symmetric about zero. Each axis is enlarged by the smallest integer that makes it
/// at least 144 pixels long (16 points: 144, 64: 192, 128 and 256: 256). Values that are not finite are kSignal and
/// counted below the bar. Rows may differ in length. `row_labels` stand upright at the left; give none or one per row.
Canvas contact_sheet(const std::vector<std::vector<Panel>>& rows, const std::string& title = "",
                     const std::vector<std::string>& row_labels = {});

struct Curve {
  std::string name;  ///< in the legend; a curve without a name is left out there
  std::vector<double> x{}, y{};
  std::vector<double> error{};  ///< half lengths of error bars along y: one per point, or none at all
};

/// All curves in one frame with ticks, grid and legend. Curves of up to 30 points have markers, and so do lone points
/// between gaps. Points that are not finite, or not positive when log_y is set, leave a gap and are counted below the
/// chart; log_x likewise. No points at all give an empty frame that says so.
Canvas line_chart(const std::vector<Curve>& curves, const std::string& title, const std::string& x_label,
                  const std::string& y_label, bool log_y = false, bool log_x = false);

/// Pictures in rows of `columns`, from the top left.
Canvas arrange_pictures(const std::vector<Canvas>& pictures, int columns);

}  // namespace piddm
