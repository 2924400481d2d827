#include "piddm/ops/local_skip.h"

namespace piddm {
namespace {

/// [B,C,H,W] with the channels innermost in memory, and back: views.
Tensor as_planes(const Tensor& x) { return x.permute({0, 3, 1, 2}); }
Tensor as_points(const Tensor& x) { return x.permute({0, 2, 3, 1}).contiguous(); }

Tensor stored(const Tensor& skip, const Tensor& like) {
  return skip.to(like.scalar_type()).contiguous(at::MemoryFormat::ChannelsLast);
}

void allow_tf32(Precision precision) { at::globalContext().setAllowTF32CuDNN(precision != Precision::fp32); }

}  // namespace

Tensor local_skip(const Tensor& y, const Tensor& skip, Precision precision) {
  allow_tf32(precision);
  return as_points(at::conv2d(as_planes(y), stored(skip, y), {}, 1, 1));
}

std::pair<Tensor, Tensor> local_skip_backward(const Tensor& dz, const Tensor& y, const Tensor& skip,
                                              Precision precision, bool want_weights) {
  allow_tf32(precision);
  const std::vector<int64_t> one{1, 1}, none{0, 0};
  const auto g = at::convolution_backward(as_planes(dz), as_planes(y), stored(skip, dz), at::OptionalIntArrayRef{}, one,
                                          one, one, false, none, 1, {true, want_weights, false});
  const auto dskip = std::get<1>(g);
  return {as_points(std::get<0>(g)), want_weights ? dskip.to(torch::kFloat32).contiguous() : Tensor()};
}

}  // namespace piddm
