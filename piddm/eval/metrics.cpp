#include "piddm/eval/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "piddm/core/error.h"
#include "piddm/core/rng.h"

namespace piddm {
namespace {

constexpr int64_t kPixelBlock = 2048;  // pixels treated at a time: bounds the memory of a float64 copy

void check_fields(const char* what, const Tensor& x, int64_t at_least) {
  require<DataError>(x.defined() && x.dim() == 4 && x.numel() > 0, "[{}] expected (N,C,H,W), got {}", what,
                     x.defined() ? shape_string(x) : "nothing");
  require<DataError>(x.size(0) >= at_least, "[{}] needs at least {} samples, got {}", what, at_least, x.size(0));
}

void check_pair(const char* what, const Tensor& generated, const Tensor& reference, int64_t at_least) {
  check_fields(what, generated, at_least);
  check_fields(what, reference, at_least);
  require<DataError>(generated.sizes().slice(1) == reference.sizes().slice(1),
                     "[{}] generated {} and reference {} differ in shape", what, shape_string(generated),
                     shape_string(reference));
}

ChannelMetric over_channels(std::vector<double> channel) {
  const double sum = std::accumulate(channel.begin(), channel.end(), 0.0);
  return {sum / static_cast<double>(channel.size()), std::move(channel)};
}

/// One channel of all samples, [N,H,W] float64.
Tensor channel_of(const Tensor& x, int64_t c) { return x.select(1, c).detach().to(torch::kFloat64); }

template <class Statistic>
ChannelMetric squared_difference(const Tensor& generated, const Tensor& reference, Statistic&& statistic) {
  std::vector<double> channel;
  for (int64_t c = 0; c < generated.size(1); ++c) {
    const Tensor other = statistic(channel_of(reference, c)).to(generated.device());
    channel.push_back((statistic(channel_of(generated, c)) - other).square().mean().template item<double>());
  }
  return over_channels(std::move(channel));
}

/// The parts a set is divided into: row r of `generated` and `reference` is 1 at the members of that part in split r,
/// [R,N].
struct Splits {
  int64_t n_generated, n_reference;
  Tensor generated, reference;
};

/// Sizes of the parts that can be drawn, and what the sizes asked for would change: (1/n + 1/m) over that of the drawn
/// parts.
struct SplitSizes {
  int64_t generated, reference;
  double ratio;
};

SplitSizes split_sizes(int64_t total, int64_t n_generated, int64_t n_reference, int repeats) {
  require<DataError>(total >= 4, "[sampling floor] needs at least 4 samples, got {}", total);
  require<UsageError>(n_generated >= 2 && n_reference >= 2 && repeats >= 1,
                      "[sampling floor] sizes {} and {} with {} repeats; needs at least 2, 2 and 1", n_generated,
                      n_reference, repeats);
  if (n_generated + n_reference <= total) return {n_generated, n_reference, 1};
  const auto inverse = [](int64_t n) { return 1.0 / static_cast<double>(n); };
  const int64_t half = total / 2;
  return {half, half, (inverse(n_generated) + inverse(n_reference)) / (2 * inverse(half))};
}

Splits draw_splits(int64_t total, const SplitSizes& sizes, uint64_t seed, int repeats, torch::Device device) {
  const Tensor generated = torch::zeros({repeats, total}, torch::kFloat64), reference = torch::zeros_like(generated);
  for (int r = 0; r < repeats; ++r) {
    const Tensor order = permutation(seed, Stream::splits, r, total);
    generated[r].index_fill_(0, order.narrow(0, 0, sizes.generated), 1.0);
    reference[r].index_fill_(0, order.narrow(0, sizes.generated, sizes.reference), 1.0);
  }
  return {sizes.generated, sizes.reference, generated.to(device), reference.to(device)};
}

struct Moments {
  Tensor mean, deviation;  ///< [R,P]
};

/// Moments of the members of each split, from sums over them; x [N,P] is centred, so that the sums do not cancel.
Moments moments_of(const Tensor& members, int64_t n, const Tensor& x, const Tensor& x_squared) {
  const double count = static_cast<double>(n);
  const Tensor mean = members.matmul(x) / count;
  const Tensor variance = (members.matmul(x_squared) - count * mean.square()) / (count - 1);
  return {mean, variance.clamp_min(0).sqrt()};
}

/// MMSE and SMSE of every split for one channel x [N,H,W]: two vectors [R].
std::pair<Tensor, Tensor> split_metrics(const Tensor& x, const Splits& splits) {
  const Tensor flat = x.reshape({x.size(0), -1});
  const Tensor centred = flat - flat.mean(0, true);
  Tensor mean_error = torch::zeros({splits.generated.size(0)}, flat.options()),
         deviation_error = torch::zeros_like(mean_error);
  for (const Tensor& block : centred.split(kPixelBlock, 1)) {
    const Tensor squared = block.square();
    const Moments g = moments_of(splits.generated, splits.n_generated, block, squared);
    const Moments r = moments_of(splits.reference, splits.n_reference, block, squared);
    mean_error += (g.mean - r.mean).square().sum(1);
    deviation_error += (g.deviation - r.deviation).square().sum(1);
  }
  const double pixels = static_cast<double>(flat.size(1));
  return {mean_error / pixels, deviation_error / pixels};
}

/// 95th percentile of values [C,R] over splits, of each channel and of the channel mean, times `factor`.
ChannelMetric upper_percentile(const Tensor& values, double factor) {
  ChannelMetric metric;
  for (const Tensor& row : values.unbind(0)) metric.channel.push_back(factor * percentile(to_vector(row), 95));
  metric.mean = factor * percentile(to_vector(values.mean(0)), 95);
  return metric;
}

}  // namespace

ChannelMetric mmse(const Tensor& generated, const Tensor& reference) {
  check_pair("mmse", generated, reference, 1);
  return squared_difference(generated, reference, [](const Tensor& x) { return x.mean(0); });
}

ChannelMetric smse(const Tensor& generated, const Tensor& reference) {
  check_pair("smse", generated, reference, 2);
  return squared_difference(generated, reference, [](const Tensor& x) { return x.std(0, /*unbiased=*/true); });
}

Tensor misclassified(const Tensor& a, const Tensor& truth, double low, double high) {
  require<DataError>(a.defined() && truth.defined() && a.numel() > 0 && a.dim() >= 2 && a.sizes() == truth.sizes(),
                     "[misclassified] needs two equal, non-empty shapes (N,...)");
  const double middle = (low + high) / 2;
  const Tensor wrong = (a > middle).ne(truth.to(a.device()) > middle).logical_or(torch::isfinite(a).logical_not());
  return wrong.to(torch::kFloat64).flatten(1).mean(1);
}

Floor sampling_floor(const Tensor& true_data, int64_t n_generated, int64_t n_reference, uint64_t seed, int repeats) {
  check_fields("sampling floor", true_data, 4);
  const auto sizes = split_sizes(true_data.size(0), n_generated, n_reference, repeats);
  const Splits splits = draw_splits(true_data.size(0), sizes, seed, repeats, true_data.device());
  std::vector<Tensor> mean_errors, deviation_errors;
  for (int64_t c = 0; c < true_data.size(1); ++c) {
    const auto [mean_error, deviation_error] = split_metrics(channel_of(true_data, c), splits);
    mean_errors.push_back(mean_error);
    deviation_errors.push_back(deviation_error);
  }
  return {upper_percentile(torch::stack(mean_errors), sizes.ratio),
          upper_percentile(torch::stack(deviation_errors), sizes.ratio), sizes.generated, sizes.reference};
}

double split_floor(int64_t total, int64_t n_generated, int64_t n_reference, double order, uint64_t seed, int repeats,
                   const std::function<double(const Tensor& generated, const Tensor& reference)>& metric) {
  const auto sizes = split_sizes(total, n_generated, n_reference, repeats);
  std::vector<double> values;
  for (int r = 0; r < repeats; ++r) {
    const Tensor split = permutation(seed, Stream::splits, r, total);
    values.push_back(metric(split.narrow(0, 0, sizes.generated), split.narrow(0, sizes.generated, sizes.reference)));
  }
  return percentile(std::move(values), 95) * std::pow(sizes.ratio, order);
}

MomentReplicates moment_replicates(const Tensor& generated, const Tensor& reference, const Tensor& counts) {
  check_pair("bootstrap", generated, reference, 2);
  const Tensor drawn = counts.to(generated.device());
  std::vector<Tensor> mean_errors, deviation_errors;
  for (int64_t c = 0; c < generated.size(1); ++c) {
    const Tensor x = channel_of(generated, c).flatten(1), y = channel_of(reference, c).to(x.device());
    const Tensor centre = x.mean(0, true), mean = y.mean(0).view({1, -1}) - centre,
                 deviation = y.std(0, /*unbiased=*/true).view({1, -1});
    Tensor mean_error = torch::zeros({counts.size(0)}, x.options()), deviation_error = torch::zeros_like(mean_error);
    for (int64_t first = 0; first < x.size(1); first += kPixelBlock) {
      const auto part = [&](const Tensor& t) { return t.slice(1, first, first + kPixelBlock); };
      const Tensor block = part(x) - part(centre);
      const Moments m = moments_of(drawn, x.size(0), block, block.square());
      mean_error += (m.mean - part(mean)).square().sum(1);
      deviation_error += (m.deviation - part(deviation)).square().sum(1);
    }
    mean_errors.push_back(mean_error / static_cast<double>(x.size(1)));
    deviation_errors.push_back(deviation_error / static_cast<double>(x.size(1)));
  }
  return {torch::stack(mean_errors), torch::stack(deviation_errors)};
}

double percentile(std::vector<double> values, double percent) {
  require<UsageError>(!values.empty() && percent >= 0 && percent <= 100, "[percentile] {} % of {} values", percent,
                      values.size());
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
    return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double position = percent / 100 * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(position), above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

}  // namespace piddm
