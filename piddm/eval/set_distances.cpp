#include "piddm/eval/set_distances.h"

#include <cmath>

#include "piddm/data/spectrum.h"
#include "piddm/eval/diversity.h"
#include "piddm/eval/frechet.h"
#include "piddm/eval/metrics.h"
#include "piddm/pde/pde.h"

namespace piddm {

namespace {

constexpr int kSplits = 40, kFrechetSplits = 10, kFrechetResamples = 40;

double relative_difference(double a, double reference) { return std::abs(a - reference) / reference; }

/// +1/n at the first indices, -1/m at the second: [total].
Tensor signed_shares(int64_t total, const Tensor& first, const Tensor& second) {
  return torch::zeros({total}, torch::kFloat64)
      .index_fill(0, first, 1.0 / static_cast<double>(first.size(0)))
      .index_fill(0, second, -1.0 / static_cast<double>(second.size(0)));
}

Tensor members(int64_t total, const Tensor& indices) {
  return torch::zeros({total}, torch::kFloat64).index_fill(0, indices, 1.0);
}

Tensor mean_of(const Tensor& rows, const Tensor& indices) { return rows.index_select(0, indices).mean(0); }

std::vector<std::string> band_names(int64_t largest) {
  std::vector<std::string> names;
  for (const auto& band : power_bands(largest)) names.push_back(band.name(largest));
  return names;
}

std::string band_key(const std::string& channel, const std::string& band) {
  return fmt::format("power_ratio_{}_{}", channel, band);
}

/// NaN where one of them is.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// From |ln(ratio)| to max(ratio, 1/ratio).
void as_factor(Scores& scores, const std::string& key) {
  scores.values[key] = std::exp(scores.values[key]);
  if (const auto found = scores.intervals.find(key); found != scores.intervals.end())
    found->second = {std::exp(found->second.first), std::exp(found->second.second)};
}

}  // namespace

struct SetDistances::Reference {
  Tensor directions, projections, distances;  ///< [P,D], [M,D], [M,M]
  double apd = 0;
  std::vector<Spectrum> spectra;
};

/// Where the distances of a generated set go, and its resamples.
struct SetDistances::Measured {
  Scores& scores;
  const Bootstrap& bootstrap;
  Tensor indices = {}, counts = {};  ///< [R,N]; undefined without resamples

  /// `replicate(r)` is the distance of resample r, of which `at_most` are used.
  void add(const std::string& key, double value, int at_most, const std::function<double(int)>& replicate) const {
    scores.values[key] = value;
    std::vector<double> values;
    for (int r = 0; r < std::min(bootstrap.resamples, at_most); ++r) values.push_back(replicate(r));
    if (!values.empty()) scores.intervals[key] = distance_interval(values, value, bootstrap.level);
  }
};

SetDistances::SetDistances(PdePtr pde, const Normalizer& normalizer, Tensor reference)
    : pde_(std::move(pde)), normalizer_(normalizer), physical_(std::move(reference)) {}

void SetDistances::add(const FeatureMetric& metric) { features_.push_back({metric, metric.features(physical_)}); }

const SetDistances::Reference& SetDistances::reference() const {
  if (reference_) return *reference_;
  require<DataError>(physical_.size(0) >= 2, "[reference] needs at least 2 true samples, got {}", physical_.size(0));
  auto made = std::make_shared<Reference>();
  const auto z = normalizer_.to_network(physical_).flatten(1);
  made->directions = slice_directions(z.size(1)).to(z.device());
  made->projections = z.matmul(made->directions);
  made->distances = pairwise_distances(z);
  made->apd = average_pairwise_distance(made->distances, torch::ones({z.size(0)}, torch::kFloat64));
  for (int64_t c = 0; c < pde_->num_channels(); ++c) {
    const auto& channel = pde_->channels()[static_cast<size_t>(c)];
    if (channel.scalar) continue;
    const auto spectra = sample_spectra(physical_.select(1, c), has_time_axis(*pde_));
    made->spectra.push_back({c, channel.name, spectra, band_powers(spectra), band_names(spectra.size(1))});
  }
  reference_ = made;
  return *reference_;
}

void SetDistances::measure(const Tensor& x, const Bootstrap& bootstrap, Scores& scores) const {
  require<DataError>(x.size(0) >= 2, "[samples] distances of sets need at least 2 samples, got {}", x.size(0));
  Measured out{scores, bootstrap};
  if (bootstrap.resamples > 0) {
    out.indices = bootstrap_indices(x.size(0), bootstrap.resamples, bootstrap.seed);
    out.counts = bootstrap_counts(out.indices);
  }
  const auto z = normalizer_.to_network(x).flatten(1);
  measure_slices(out, z);
  measure_pairs(out, z);
  measure_spectra(out, x);
  measure_features(out, x);
}

void SetDistances::measure_slices(const Measured& out, const Tensor& z) const {
  const auto& r = reference();
  const auto n = z.size(0), m = r.projections.size(0);
  const SlicedPool pool(torch::cat({z.matmul(r.directions), r.projections}));
  const auto against_reference = [&](const Tensor& counts) {
    return pool.distance(torch::cat(
        {counts / static_cast<double>(n), torch::full({m}, -1.0 / static_cast<double>(m), torch::kFloat64)}));
  };
  const double value = against_reference(torch::ones({n}, torch::kFloat64));
  out.add("swd", value, out.bootstrap.resamples, [&](int i) { return against_reference(out.counts[i]); });
}

void SetDistances::measure_pairs(const Measured& out, const Tensor& z) const {
  const auto distances = pairwise_distances(z);
  const auto apdd = [&](const Tensor& counts) {
    return relative_difference(average_pairwise_distance(distances, counts), reference().apd);
  };
  const auto all = torch::ones({z.size(0)}, torch::kFloat64);
  out.scores.values["apd"] = average_pairwise_distance(distances, all);
  const double value = apdd(all);
  out.add("apdd", value, out.bootstrap.resamples, [&](int i) { return apdd(out.counts[i]); });
}

void SetDistances::measure_spectra(const Measured& out, const Tensor& x) const {
  const auto& spectra = reference().spectra;
  std::vector<Tensor> generated;
  for (const auto& spectrum : spectra)
    generated.push_back(sample_spectra(x.select(1, spectrum.channel), has_time_axis(*pde_)));
  const auto error = [&](size_t i, const Tensor& counts) {
    return spectrum_error(counts.matmul(generated[i]) / static_cast<double>(x.size(0)), spectra[i].samples.mean(0));
  };
  const auto mean_error = [&](const Tensor& counts) {
    double sum = 0;
    for (size_t i = 0; i < spectra.size(); ++i) sum += error(i, counts);
    return sum / static_cast<double>(spectra.size());
  };
  const auto all = torch::ones({x.size(0)}, torch::kFloat64);
  const double value = mean_error(all);
  out.add("spectrum_error", value, out.bootstrap.resamples, [&](int i) { return mean_error(out.counts[i]); });
  for (size_t i = 0; i < spectra.size(); ++i) out.scores.values["spectrum_error_" + spectra[i].name] = error(i, all);
  measure_bands(out, generated);
}

void SetDistances::measure_bands(const Measured& out, const std::vector<Tensor>& spectra) const {
  const auto& truth = reference().spectra;
  const auto all = torch::ones({spectra.front().size(0)}, torch::kFloat64);
  std::vector<Tensor> bands, references;
  for (size_t i = 0; i < truth.size(); ++i) {
    bands.push_back(band_powers(spectra[i]));
    references.push_back(truth[i].bands.mean(0));
  }
  const auto distance = [&](size_t i, const Tensor& counts) {
    return worst_band(counts.matmul(bands[i]) / counts.sum(), references[i]);
  };
  const auto largest = [&](const Tensor& counts) {
    double found = 0;
    for (size_t i = 0; i < truth.size(); ++i) found = larger(found, distance(i, counts));
    return found;
  };
  for (size_t i = 0; i < truth.size(); ++i) {
    add_ratios(out, truth[i], bands[i]);
    const auto key = "worst_band_" + truth[i].name;
    out.add(key, distance(i, all), out.bootstrap.resamples, [&](int r) { return distance(i, out.counts[r]); });
    as_factor(out.scores, key);
  }
  out.add("worst_band", largest(all), out.bootstrap.resamples, [&](int r) { return largest(out.counts[r]); });
  as_factor(out.scores, "worst_band");
}

void SetDistances::add_ratios(const Measured& out, const Spectrum& truth, const Tensor& bands) const {
  const auto reference = truth.bands.mean(0), ratios = bands.mean(0) / reference;
  const auto replicates = out.counts.defined() ? out.counts.matmul(bands / reference) / out.counts[0].sum() : Tensor();
  for (size_t b = 0; b < truth.band_names.size(); ++b) {
    const auto key = band_key(truth.name, truth.band_names[b]);
    const auto at = static_cast<int64_t>(b);
    out.scores.values[key] = ratios[at].item<double>();
    if (replicates.defined())
      out.scores.intervals[key] = central_interval(to_vector(replicates.select(1, at)), out.bootstrap.level);
  }
}

void SetDistances::measure_features(const Measured& out, const Tensor& x) const {
  for (const auto& [metric, true_features] : features_) {
    const auto features = metric.features(x);
    const auto truth = fit_gaussian(true_features);
    const double value = frechet_distance(fit_gaussian(features), truth).distance;
    out.add(metric.name, value, kFrechetResamples, [&](int i) {
      return frechet_distance(fit_gaussian(features.index_select(0, out.indices[i])), truth).distance;
    });
  }
}

void SetDistances::floor(int64_t n, uint64_t seed, Scores& scores) const {
  const auto& r = reference();
  const int64_t total = physical_.size(0);
  const auto add = [&](const std::string& key, double order, int repeats, const auto& metric) {
    scores.values[key] = split_floor(total, n, total, order, seed, repeats, metric);
  };
  const SlicedPool pool(r.projections);
  add("swd", 0.5, kSplits, [&](const Tensor& a, const Tensor& b) { return pool.distance(signed_shares(total, a, b)); });
  const auto apd = [&](const Tensor& part) { return average_pairwise_distance(r.distances, members(total, part)); };
  add("apdd", 0.5, kSplits, [&](const Tensor& a, const Tensor& b) { return relative_difference(apd(a), apd(b)); });
  const auto spectral = [&](const Spectrum& spectrum, const Tensor& a, const Tensor& b) {
    return spectrum_error(mean_of(spectrum.samples, a), mean_of(spectrum.samples, b));
  };
  add("spectrum_error", 0.5, kSplits, [&](const Tensor& a, const Tensor& b) {
    double sum = 0;
    for (const auto& spectrum : r.spectra) sum += spectral(spectrum, a, b);
    return sum / static_cast<double>(r.spectra.size());
  });
  for (const auto& spectrum : r.spectra)
    add("spectrum_error_" + spectrum.name, 0.5, kSplits,
        [&](const Tensor& a, const Tensor& b) { return spectral(spectrum, a, b); });
  floor_of_bands(n, seed, scores);
  for (const auto& features : features_)
    add(features.metric.name, 1, kFrechetSplits, [&](const Tensor& a, const Tensor& b) {
      return frechet_distance(features.reference.index_select(0, a), features.reference.index_select(0, b)).distance;
    });
}

void SetDistances::floor_of_bands(int64_t n, uint64_t seed, Scores& scores) const {
  const auto& spectra = reference().spectra;
  const int64_t total = physical_.size(0);
  const auto add = [&](const std::string& key, const auto& metric) {
    scores.values[key] = split_floor(total, n, total, 0.5, seed, kSplits, metric);
    as_factor(scores, key);
  };
  const auto worst = [](const Spectrum& spectrum, const Tensor& a, const Tensor& b) {
    return worst_band(mean_of(spectrum.bands, a), mean_of(spectrum.bands, b));
  };
  for (const auto& spectrum : spectra) {
    for (size_t i = 0; i < spectrum.band_names.size(); ++i) {
      const auto band = spectrum.bands.select(1, static_cast<int64_t>(i));
      add(band_key(spectrum.name, spectrum.band_names[i]), [&](const Tensor& a, const Tensor& b) {
        return (mean_of(band, a) / mean_of(band, b)).log().abs().item<double>();
      });
    }
    add("worst_band_" + spectrum.name, [&](const Tensor& a, const Tensor& b) { return worst(spectrum, a, b); });
  }
  add("worst_band", [&](const Tensor& a, const Tensor& b) {
    double distance = 0;
    for (const auto& spectrum : spectra) distance = larger(distance, worst(spectrum, a, b));
    return distance;
  });
}

}  // namespace piddm
