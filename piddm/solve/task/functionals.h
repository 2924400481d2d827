#pragma once
// Linear functionals of samples, y_m = sum_k w_mk x_k + noise: what a sensor between the entries of the grid says, an
// average or a flux. Sparse rows over the entries of [C,H,W]; each row belongs to one sample and one channel.
//
// In physical units a row has weights w and a value y. In network units (in a Target) it is divided by what it is for a
// field of size 1, so that its value is about 1 as those of entries are:
//
//   w / gain,   (y - shift sum_k w_k) / (scale gain),   sigma / (scale gain),   shift and scale of its channel

#include "piddm/core/tensor.h"
#include "piddm/data/normalizer.h"

namespace piddm {

struct Functionals {
  Tensor sample = {};   ///< [M] int64, rising
  Tensor channel = {};  ///< [M] int64
  Tensor value = {};    ///< [M] y
  Tensor sigma = {};    ///< [M] standard deviation of its noise, 0: exact
  Tensor gain = {};     ///< [M] size of the functional for a field of size 1: 1 for averages
  Tensor row = {};      ///< [K] int64, rising: the row of each weight
  Tensor entry = {};    ///< [K] int64, its place in the flattened [C,H,W]
  Tensor weight = {};   ///< [K] w
  Tensor trust = {};    ///< [M] weight in a misfit (target.h) or precision; undefined until somebody sets it

  int64_t size() const { return value.defined() ? value.size(0) : 0; }
  bool empty() const { return size() == 0; }

  /// A x, [M], of x = [B,C,H,W]; differentiable.
  Tensor apply(const Tensor& x) const;

  /// A^T y of y = [M], in the shape of `like`.
  Tensor transposed(const Tensor& y, const Tensor& like) const;

  /// sum_m y_m over the rows of each of `samples` samples: [samples].
  Tensor sum_by_sample(const Tensor& y, int64_t samples) const;

  /// Number of rows of each sample: [samples] int64.
  Tensor count(int64_t samples) const;

  /// y = [M] as [samples,R], R the most rows a sample has; zeros behind the rows of a sample.
  Tensor padded(const Tensor& y, int64_t samples) const;

  /// The reverse: [M] of [samples,R] with the same order.
  Tensor unpadded(const Tensor& y) const;

  /// Rows of samples[0], samples[1], ... (int64, any order, with repeats), which become samples 0, 1, ...
  Functionals select(const Tensor& samples) const;

  /// The rows where `kept` [M] is true.
  Functionals keep(const Tensor& kept) const;

  /// Every tensor on the device, real numbers in this type.
  Functionals to(torch::Device device, torch::ScalarType dtype) const;

  /// Physical units to network units and back.
  Functionals to_network(const Normalizer& normalizer) const;
  Functionals to_physical(const Normalizer& normalizer) const;

 private:
  Functionals chosen(const Tensor& rows, const Tensor& new_sample) const;
  Tensor place_in_sample() const;
};

}  // namespace piddm
