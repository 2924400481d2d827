#pragma once
// Power spectra of samples, for a look at what scales a set of fields contains.

#include <string>
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

/// The largest wave number of these spectra: half the points along x, or along the shorter axis.
int64_t largest_wave_number(int64_t h, int64_t w, bool along_x_only);

/// A band of wave numbers between powers of two.
struct Band {
  int64_t first, last;  ///< both are in the band

  /// "8-16" for wave numbers 8 to 15; the band with the largest wave number ends with it.
  std::string name(int64_t largest) const;
};

/// The bands 1, 2 to 3, 4 to 7, ... of a spectrum; `largest`, where it is a power of two, belongs to the band before
/// it: 32-64 is the last of 64 wave numbers and has 33 of them.
std::vector<Band> power_bands(int64_t largest);

/// The power in each band of spectra [N,K]: [N,bands].
Tensor band_powers(const Tensor& spectra);

/// How far the worst band of mean powers [bands] is from the reference: the largest |ln(P/P_ref)| over the bands with
/// more than 1e-6 of the reference's power. Ratios beyond 1e12 count as that.
double worst_band(const Tensor& powers, const Tensor& reference);

/// Distance of two mean spectra [K]: root mean square over wave numbers of log10(P/P_ref), so 0.3 is a factor of 2 on
/// average. Power below 1e-24 of the spectrum's largest counts as that much (round-off).
double spectrum_error(const Tensor& power, const Tensor& reference);

}  // namespace piddm
