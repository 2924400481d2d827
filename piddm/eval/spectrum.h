#pragma once
// Power spectra of samples, for a look at what scales a set of fields contains.

#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

/// Power at wave numbers 1..N/2 (waves across the domain), averaged over samples: sum over |k| in [k-1/2, k+1/2) of |c_k|^2, c_k the Fourier
/// coefficients of the field without its mean under a Hann window (which keeps fields that are not periodic from drowning the high wave
/// numbers), normalised so that a wave of amplitude A well inside the band adds A^2/2 in total.
///
/// `fields` is [N,H,W]. Along x alone (averaged over the other axis) for fields in x and t, over both axes otherwise.
std::vector<double> power_spectrum(const Tensor& fields, bool along_x_only);

}  // namespace piddm
