#include "piddm/ops/fused_plan.h"

#include <numbers>

#include "piddm/core/cuda.h"

namespace piddm {
namespace {

/// cos and sin of 2 pi k j/n, float64 [frequencies, points].
std::pair<Tensor, Tensor> waves(int64_t lowest, int64_t frequencies, int64_t points) {
  const auto k = torch::arange(lowest, lowest + frequencies, torch::kInt64).view({-1, 1});
  const auto j = torch::arange(points, torch::kInt64).view({1, -1});
  const auto angle =
      (k * j).remainder(points).to(torch::kFloat64) * (2 * std::numbers::pi / static_cast<double>(points));
  return {angle.cos(), angle.sin()};
}

/// A right factor with this many rows and columns, packed once.
Tensor packed_right(const Tensor& matrix, torch::Device device, Precision precision, bool activated) {
  const auto source = matrix.to(torch::kFloat32).to(device).contiguous();
  const int64_t depth = cuda::round_up(as_int(source.size(0)), 16), columns = cuda::round_up(as_int(source.size(1)), 8);
  auto target = gpu_storage({depth, columns}, device, precision);
  if constexpr (cuda::kBuilt) {
    cuda::pack(precision, {pack_job(source, target, false, false, activated)}, cuda::current_stream());
    cuda::synchronize();
  }
  return target;
}

/// Rows (re, im) of n numbers -> tiles of 16 rows, re of eight numbers, then im of the same; zeros up to full tiles and
/// 16 columns.
Tensor in_tiles(const Tensor& re, const Tensor& im) {
  const int64_t n = re.size(0), rows = cuda::round_up(as_int(n), 8), depth = cuda::round_up(as_int(re.size(1)), 16);
  auto tiles = torch::zeros({rows / 8, 2, 8, depth}, torch::kFloat64);
  const auto pad = [&](const Tensor& x) {
    return torch::constant_pad_nd(x, {0, depth - x.size(1), 0, rows - n}).view({rows / 8, 8, depth});
  };
  tiles.select(1, 0).copy_(pad(re));
  tiles.select(1, 1).copy_(pad(im));
  return tiles.view({2 * rows, depth});
}

/// Columns a and b of n numbers side by side: [m, n] twice -> [m, 2n].
Tensor side_by_side(const Tensor& a, const Tensor& b) { return torch::stack({a, b}, 2).flatten(1); }

Tensor packed_left(const Tensor& matrix, torch::Device device, Precision precision) {
  const int64_t rows = cuda::round_up(as_int(matrix.size(0)), 16), depth = cuda::round_up(as_int(matrix.size(1)), 16);
  const auto source = torch::constant_pad_nd(matrix, {0, depth - matrix.size(1), 0, rows - matrix.size(0)})
                          .to(torch::kFloat32)
                          .to(device)
                          .contiguous();
  auto target = gpu_storage({rows, depth}, device, precision);
  if constexpr (cuda::kBuilt) {
    cuda::pack_a(precision, source.data_ptr<float>(), target.data_ptr(), as_int(rows), as_int(depth),
                 cuda::current_stream());
    cuda::synchronize();
  }
  return target;
}

}  // namespace

Tensor gpu_storage(at::IntArrayRef sizes, torch::Device device, Precision precision) {
  return torch::empty(sizes,
                      torch::dtype(precision == Precision::bf16 ? torch::kBFloat16 : torch::kFloat32).device(device));
}

cuda::PackB pack_job(const Tensor& view, const Tensor& target, bool wide_k, bool wide_n, bool activated) {
  return {.source = view.data_ptr<float>(),
          .target = target.data_ptr(),
          .depth = as_int(view.size(0)),
          .columns = as_int(view.size(1)),
          .padded_depth = as_int(target.size(0)),
          .padded_columns = as_int(target.size(1)),
          .stride_k = view.stride(0),
          .stride_n = view.stride(1),
          .wide_k = wide_k,
          .wide_n = wide_n,
          .activated = activated};
}

FusedPlan::FusedPlan(const SpectralBasis& b, torch::Device device, Precision precision)
    : height(b.height), width(b.width), kept1(b.kept1), kept2(b.kept2), first1(b.first1), lowest1(b.lowest1) {
  auto symmetry = torch::full({kept2, 1}, 2.0, torch::kFloat64);
  symmetry[0] = 1.0;
  if (width % 2 == 0 && kept2 == width / 2 + 1) symmetry[kept2 - 1] = 1.0;
  mean = 1.0 / static_cast<double>(height * width);
  const auto [cw, sw] = waves(0, kept2, width);
  const auto [ch, sh] = waves(lowest1, kept1, height);
  const auto make = [&](const Tensor& matrix) { return packed_left(matrix, device, precision); };
  const auto along_w = side_by_side(cw.t(), -sw.t());
  analysis = packed_right(along_w, device, precision, false);
  analysis_activated = packed_right(along_w, device, precision, true);
  analysis_adjoint = packed_right(side_by_side((cw * symmetry).t(), (-sw * symmetry).t()), device, precision, false);
  synthesis = make(side_by_side((cw * symmetry).t(), (-sw * symmetry).t()));
  synthesis_adjoint = make(side_by_side((cw * mean).t(), (-sw * mean).t()));
  to_modes = make(in_tiles(side_by_side(ch, sh), side_by_side(-sh, ch)));
  to_grid = make(in_tiles(side_by_side(ch.t(), -sh.t()), side_by_side(sh.t(), ch.t())));
}

}  // namespace piddm
