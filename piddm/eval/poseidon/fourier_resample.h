#pragma once
// Fields on another grid by cutting or padding their Fourier series.

#include "piddm/core/tensor.h"

namespace piddm {

/// x [...,n,n] on about size x size points, as ScOT does with its input: the full complex transform over both axes,
/// then the real part of what is left.
///
/// n < size: floor((size-n)/2) zero frequencies are added on each side, so the result has `size` points per side if
/// size-n is even, else size-1. For even n the line of the Nyquist frequency -n/2 stays one-sided; taking the real part
/// is what makes it symmetric. n > size: the frequencies -size/2 .. size/2-1 are kept. n = size: x itself.
Tensor fourier_resample(const Tensor& x, int64_t size);

}  // namespace piddm
