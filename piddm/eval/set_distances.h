#pragma once
// Distances between the set of generated samples and the set of true ones beyond pixelwise moments, each with bootstrap
// replicates and a floor:
//
//   swd, apd, apdd                     diversity.h, z-scored samples flattened over all channels
//   spectrum_error, spectrum_error_u, ...   spectrum.h, field channels and their mean
//   power_ratio_a_8-16, ...          spectrum.h, power of a field channel in a band over that of the true data; floor:
//                                    the 95th percentile of max(ratio, 1/ratio)
//   worst_band, worst_band_u, ...    max(ratio, 1/ratio) of the worst band with more than 1e-6 of a channel's power
//   fpd, fpd_a, frechet_teacher      frechet.h in the features of feature_metric.h, where given
//
// What depends on the true data alone is computed once, at the first use. Everything of the size of the fields is on
// the device of the true data; spectra, features, resamples and splits are small and on the CPU.

#include <memory>

#include "piddm/data/normalizer.h"
#include "piddm/eval/feature_metric.h"
#include "piddm/eval/ensembles/scores.h"

namespace piddm {

class SetDistances {
 public:
  /// `reference` [M,C,H,W] physical float64, M >= 2.
  SetDistances(PdePtr pde, const Normalizer& normalizer, Tensor reference);

  void add(const FeatureMetric& metric);

  /// Adds every distance of x [N,C,H,W] from the reference, N >= 2; with resamples also their intervals.
  void measure(const Tensor& x, const Bootstrap& bootstrap, Scores& scores) const;

  /// Adds the 95th percentiles of true data against true data (split_floor): 40 splits, 10 for Frechet distances, whose
  /// order in n is taken as that of the leading term, 1.
  void floor(int64_t n, uint64_t seed, Scores& scores) const;

 private:
  struct Reference;
  struct Spectrum {
    int64_t channel;
    std::string name;  ///< of the channel
    Tensor samples;    ///< [M,K] on the CPU
    Tensor bands;      ///< [M,bands], the same in bands
    std::vector<std::string> band_names;
  };
  struct Features {
    FeatureMetric metric;
    Tensor reference;  ///< [M,d]
  };
  struct Measured;

  const Reference& reference() const;
  void measure_slices(const Measured& out, const Tensor& z) const;
  void measure_pairs(const Measured& out, const Tensor& z) const;
  void measure_spectra(const Measured& out, const Tensor& x) const;
  void measure_bands(const Measured& out, const std::vector<Tensor>& spectra) const;
  void add_ratios(const Measured& out, const Spectrum& truth, const Tensor& bands) const;
  void floor_of_bands(int64_t n, uint64_t seed, Scores& scores) const;
  void measure_features(const Measured& out, const Tensor& x) const;

  PdePtr pde_;
  Normalizer normalizer_;
  Tensor physical_;
  std::vector<Features> features_;
  mutable std::shared_ptr<const Reference> reference_;
};

}  // namespace piddm
