#include "piddm/data/resample.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

bool both_ends(AxisKind kind) { return kind == AxisKind::nodes || kind == AxisKind::time; }

GridAxis unit_axis(AxisKind kind) { return {.name = {}, .kind = kind, .length = 1}; }

/// Second derivatives of the spline from values, [n,n], both at points of distance 1:
///   (m_{i-1} + 4 m_i + m_{i+1})/6 = u_{i-1} - 2 u_i + u_{i+1};   not-a-knot: m_0 - 2 m_1 + m_2 = 0
Tensor second_derivatives(int64_t n, bool periodic) {
  const auto left = torch::zeros({n, n}, torch::kFloat64), right = torch::zeros({n, n}, torch::kFloat64);
  auto a = left.accessor<double, 2>(), b = right.accessor<double, 2>();
  for (int64_t i = 0; i < n; ++i) {
    if (!periodic && (i == 0 || i == n - 1)) continue;
    const int64_t below = (i + n - 1) % n, above = (i + 1) % n;
    a[i][below] += 1.0 / 6;
    a[i][i] += 4.0 / 6;
    a[i][above] += 1.0 / 6;
    b[i][below] += 1;
    b[i][i] -= 2;
    b[i][above] += 1;
  }
  for (const int64_t end : {int64_t{0}, n - 1}) {
    if (periodic) break;
    const int64_t inward = end == 0 ? 1 : -1;
    a[end][end] = 1;
    a[end][end + inward] = -2;
    a[end][end + 2 * inward] = 1;
  }
  return torch::linalg_solve(left, right);
}

/// Positions of `to` in units of the spacing of `from`, counted from its first point.
Tensor positions(const AxisPoints& from, const AxisPoints& to) {
  const auto axis = unit_axis(from.kind);
  const auto first = axis.coordinates(from.points)[0];
  return (unit_axis(to.kind).coordinates(to.points) - first) / axis.spacing(from.points);
}

Tensor spline_matrix(const Tensor& at, int64_t n, bool periodic) {
  const auto bends = second_derivatives(n, periodic), eye = torch::eye(n, torch::kFloat64);
  const auto lower = periodic ? at.floor() : at.floor().clamp(0, static_cast<double>(n - 2));
  const auto t = (at - lower).unsqueeze(1), s = 1 - t;
  const auto i = lower.to(torch::kLong).remainder(n), j = (i + 1).remainder(n);
  const auto row = [](const Tensor& m, const Tensor& index) { return m.index_select(0, index); };
  return s * row(eye, i) + t * row(eye, j) + (s.pow(3) - s) / 6 * row(bends, i) + (t.pow(3) - t) / 6 * row(bends, j);
}

bool same(const AxisPoints& a, const AxisPoints& b) {
  return a.points == b.points && (a.kind == b.kind || (both_ends(a.kind) && both_ends(b.kind)));
}

Tensor along(const Tensor& x, int64_t dim, const Tensor& matrix) {
  return torch::matmul(x.transpose(dim, -1), matrix.t()).transpose(dim, -1).contiguous();
}

/// The two values of a field that has only two; the nearer of them everywhere in `out`.
void snap(const Tensor& given, Tensor& out) {
  const auto low = given.min(), high = given.max();
  if (!given.eq(low).logical_or(given.eq(high)).all().item<bool>()) return;
  out = torch::where(out < (low + high) / 2, low, high);
}

Tensor between(const Pde& pde, const Tensor& x, const GridPoints& from, const GridPoints& to) {
  const auto axes = pde.axes();
  std::vector<Tensor> channels;
  for (size_t c = 0; c < pde.channels().size(); ++c) {
    const auto& channel = pde.channels()[c];
    const auto given = x.narrow(1, static_cast<int64_t>(c), 1).to(torch::kFloat64);
    auto field = given;
    for (size_t d = 0; d < 2; ++d)
      if (!same(from[d], to[d]))
        field = along(field, static_cast<int64_t>(d) + 2,
                      resampling_matrix(from[d], to[d], axes[d].kind == AxisKind::periodic));
    if (channel.two_valued) snap(given, field);
    if (channel.scalar)  // one number, wherever the points lie
      field = given.narrow(2, 0, 1).narrow(3, 0, 1).expand({-1, 1, to[0].points, to[1].points}).contiguous();
    channels.push_back(field);
  }
  return torch::cat(channels, 1);
}

}  // namespace

GridPoints points_of(const Pde& pde) {
  const auto axes = pde.axes();
  return {{{axes[0].kind, pde.grid().height()}, {axes[1].kind, pde.grid().width()}}};
}

int64_t points_at_same_spacing(const AxisPoints& from, AxisKind to) {
  const int64_t intervals = both_ends(from.kind) ? from.points - 1 : from.points;
  return both_ends(to) ? intervals + 1 : intervals;
}

Tensor resampling_matrix(const AxisPoints& from, const AxisPoints& to, bool periodic) {
  require<DataError>(from.points >= kFewestToResample, "{} points along an axis: resampling needs at least {}",
                     from.points, kFewestToResample);
  require<DataError>(to.points >= 1, "{} points along an axis: nothing to resample to", to.points);
  const bool twice = periodic && both_ends(from.kind);
  const auto matrix = spline_matrix(positions(from, to), twice ? from.points - 1 : from.points, periodic);
  return twice ? torch::constant_pad_nd(matrix, {0, 1}) : matrix;
}

Tensor spline_resample(const Pde& pde, const Tensor& x, const GridPoints& from) {
  require<DataError>(
      x.dim() == 4 && x.size(1) == pde.num_channels() && x.size(2) == from[0].points && x.size(3) == from[1].points,
      "[{}] resampling: expected (B,{},{},{}), got {}", pde.name(), pde.num_channels(), from[0].points, from[1].points,
      shape_string(x));
  const torch::NoGradGuard no_grad;
  auto out = between(pde, x, from, points_of(pde));
  const auto given = pde.given_boundary().to(out.device());
  if (!given.any().item<bool>()) return out;
  const auto imposed = pde.solution(pde.constrain(out));
  pde.solution(out).copy_(torch::where(given, imposed, pde.solution(out)));
  return out;
}

Tensor spline_resample_to(const Pde& pde, const Tensor& x, const GridPoints& to) {
  pde.check_shape(x);
  const torch::NoGradGuard no_grad;
  return between(pde, x, points_of(pde), to);
}

}  // namespace piddm
