#pragma once
// Power spectra of samples, for a look at what scales a set of fields contains.

#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

/// Power at wave numbers 1..N/2 (waves across the domain), averaged over samples: sum over |k| in [k-1/2, k+1/2) of
/// |c_k|^2, c_k the Fourier coefficients of the field without its mean under a Hann window (which keeps fields that are
/// not periodic from drowning the high wave numbers), normalised so that a wave of amplitude A well inside the band
/// adds A^2/2 in total.
///
/// `fields` is [N,H,W]. Along x alone (averaged over the other axis) for fields in x and t, over both axes otherwise.
std::vector<double> power_spectrum(const Tensor& fields, bool along_x_only);

/// The same of each sample, [N,K] float64 on the CPU; computed where the fields are.
Tensor sample_spectra(const Tensor& fields, bool along_x_only);

/// Distance of two mean spectra [K]: root mean square over wave numbers of log10(P/P_ref), so 0.3 is a factor of 2 on
/// average. Power below 1e-24 of the spectrum's largest counts as that much (round-off).
double spectrum_error(const Tensor& power, const Tensor& reference);

}  // namespace piddm
