#include "piddm/posterior/nearest_point.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

constexpr int64_t kEntriesAtOnce = int64_t{1} << 25;

/// Squared distances times H, and the row, in one number; the type that holds it.
torch::ScalarType key_type(int64_t height, int64_t width) {
  const int64_t far = height + width;
  return (far * far + height * height) * height < (int64_t{1} << 31) ? torch::kInt : torch::kLong;
}

struct RowPass {
  Tensor column;    ///< of the nearest marked point in the row
  Tensor distance;  ///< to it; H + W where there is none
};

RowPass along_rows(const Tensor& marked, torch::ScalarType type) {
  const int64_t height = marked.size(1), width = marked.size(2);
  const auto j = torch::arange(width, marked.options().dtype(type));
  const auto none = torch::full({}, -1, j.options());
  const auto left = std::get<0>(torch::where(marked, j, none).cummax(2));
  const auto mirrored = std::get<0>(torch::where(marked, width - 1 - j, none).flip(2).cummax(2)).flip(2);
  const auto right = width - 1 - mirrored;
  const auto far = torch::full({}, height + width, j.options());
  const auto to_left = torch::where(left >= 0, j - left, far), to_right = torch::where(mirrored >= 0, right - j, far);
  return {torch::where(to_left <= to_right, left, right).clamp(0, width - 1), torch::minimum(to_left, to_right)};
}

/// min over i' of ((i - i')^2 + r(i',j)^2) H + i', [N,H,W].
Tensor across_rows(const Tensor& distance) {
  const int64_t fields = distance.size(0), height = distance.size(1), width = distance.size(2);
  const auto i = torch::arange(height, distance.options());
  const auto offsets = (i.unsqueeze(1) - i).square() * height + i;  // [i,i']
  const auto own = distance.square() * height;
  const int64_t together = std::max<int64_t>(kEntriesAtOnce / (height * height * width), 1);
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < fields; at += together) {
    const auto part = own.narrow(0, at, std::min(together, fields - at));
    parts.push_back((offsets.unsqueeze(2) + part.unsqueeze(1)).amin(2));
  }
  return torch::cat(parts);
}

}  // namespace

NearestPoint nearest_points(const Tensor& marked) {
  const int64_t height = marked.size(1), width = marked.size(2);
  const auto rows = along_rows(marked, key_type(height, width));
  const auto best = across_rows(rows.distance);
  const auto row = best.remainder(height).to(torch::kLong);
  const auto square = best.div(height, "floor");
  const auto some = marked.flatten(1).any(1).view({-1, 1, 1});
  const auto distance = square.to(torch::kFloat32).sqrt();
  return {torch::where(some, row * width + rows.column.to(torch::kLong).gather(1, row), torch::zeros_like(row)),
          torch::where(some, distance, torch::full_like(distance, INFINITY))};
}

}  // namespace piddm
