#include "piddm/data/statistics.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

/// Count, mean and sum of squared deviations; combined by Chan, Golub and LeVeque's formula.
struct Moments {
  double count = 0, mean = 0, m2 = 0, min = 0, max = 0;

  void combine(const Moments& other) {
    const double total = count + other.count, delta = other.mean - mean;
    m2 += other.m2 + delta * delta * count * other.count / total;
    mean += delta * other.count / total;
    min = count > 0 ? std::min(min, other.min) : other.min;
    max = count > 0 ? std::max(max, other.max) : other.max;
    count = total;
  }
};

Moments moments_of(const double* x, int64_t n) {
  // Relative to the first value a constant has exactly zero deviation, whatever its size.
  double sum = 0, m2 = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] - x[0];
  const double shift = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) m2 += (x[i] - x[0] - shift) * (x[i] - x[0] - shift);
  const auto [low, high] = std::minmax_element(x, x + n);
  return {static_cast<double>(n), x[0] + shift, m2, *low, *high};
}

/// Calls f(sample) for every sample of a [N,...] tensor, in parallel.
template <class F>
void for_each_sample(const Tensor& x, const F& f) {
  at::parallel_for(0, x.size(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

Tensor on_cpu(const Tensor& x) { return x.detach().to(torch::kCPU, torch::kFloat64).contiguous(); }

/// mean_squares() of values that are not on the CPU.
Tensor device_mean_squares(const Tensor& values, const Tensor& mask) {
  const auto squares = values.detach().to(torch::kFloat64).flatten(1).square();
  if (!mask.defined()) return on_cpu(squares.mean(1));
  const auto weight = mask.to(torch::kFloat64).flatten(1), count = weight.sum(1);
  return on_cpu(((weight * squares).sum(1) / count).masked_fill(count == 0, 0));
}

/// Mean square of each sample over the points where `mask` holds (undefined: all; none: 0), [N] on the CPU.
Tensor mean_squares(const Tensor& values, const Tensor& mask = {}) {
  if (!values.is_cpu()) return device_mean_squares(values, mask);
  const auto x = on_cpu(values), weight = mask.defined() ? on_cpu(mask) : torch::ones_like(x);
  const auto result = torch::empty({x.size(0)}, torch::kFloat64);
  const int64_t n = x.numel() / x.size(0);
  const auto *from = x.data_ptr<double>(), *w = weight.data_ptr<double>();
  auto* to = result.data_ptr<double>();
  for_each_sample(x, [&](int64_t i) {
    double sum = 0, count = 0;
    for (int64_t k = i * n; k < (i + 1) * n; ++k) {
      sum += w[k] * from[k] * from[k];
      count += w[k];
    }
    to[i] = count > 0 ? sum / count : 0;
  });
  return result;
}

double mean_in_order(const Tensor& x) {
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += x.data_ptr<double>()[i];
  return sum / static_cast<double>(x.numel());
}

}  // namespace

std::vector<ChannelStatistics> channel_statistics(const Tensor& fields) {
  require<DataError>(fields.dim() == 4 && fields.numel() > 0, "[statistics] expected samples (N,C,H,W), got {}",
                     shape_string(fields));
  std::vector<ChannelStatistics> result;
  for (int64_t c = 0; c < fields.size(1); ++c) {
    std::vector<Moments> samples(static_cast<size_t>(fields.size(0)));
    for_each_sample(fields, [&](int64_t i) {
      const torch::NoGradGuard no_grad;
      const auto x = on_cpu(fields[i][c]);
      samples[static_cast<size_t>(i)] = moments_of(x.data_ptr<double>(), x.numel());
    });
    Moments all;
    for (const auto& sample : samples) all.combine(sample);
    result.push_back({all.mean, std::sqrt(all.m2 / all.count), all.min, all.max});
  }
  return result;
}

double ResidualStatistics::mean_pde_error() const { return mean_in_order(pde_error); }

double ResidualStatistics::mean_boundary_error() const { return boundary.defined() ? mean_in_order(boundary) : 0; }

double ResidualStatistics::reference_rms() const { return std::sqrt(mean_in_order(reference)); }

double ResidualStatistics::rel_residual() const { return std::sqrt(mean_in_order(residual)) / reference_rms(); }

double ResidualStatistics::worst_rel_residual() const {
  return std::sqrt(residual[worst_sample()].item<double>()) / reference_rms();
}

int64_t ResidualStatistics::worst_sample() const { return residual.argmax().item<int64_t>(); }

ResidualStatistics residual_statistics(const Pde& pde, const Tensor& fields, int64_t batch) {
  const torch::NoGradGuard no_grad;
  const double unit = pde.residual_scale() * pde.residual_scale();
  std::vector<ResidualStatistics> parts;
  for (int64_t first = 0; first < fields.size(0); first += batch) {
    const auto x = fields.slice(0, first, first + batch).to(torch::kFloat64);
    const auto r = pde.residual(x);
    const auto all = mean_squares(r.interior);
    parts.push_back({.pde_error = all * unit,
                     .residual = r.smooth.defined() ? mean_squares(r.interior, r.smooth) : all,
                     .reference = mean_squares(pde.reference_term(x), r.smooth),
                     .peak = on_cpu(r.interior.square().amax({1, 2, 3})) * unit,
                     .boundary = r.boundary.defined() ? mean_squares(r.boundary) : Tensor()});
  }
  return join_statistics(parts);
}

ResidualStatistics join_statistics(const std::vector<ResidualStatistics>& parts) {
  const auto join = [&](Tensor ResidualStatistics::*member) {
    std::vector<Tensor> pieces;
    for (const auto& part : parts)
      if ((part.*member).defined()) pieces.push_back(part.*member);
    return pieces.empty() ? Tensor() : torch::cat(pieces);
  };
  return {.pde_error = join(&ResidualStatistics::pde_error),
          .residual = join(&ResidualStatistics::residual),
          .reference = join(&ResidualStatistics::reference),
          .peak = join(&ResidualStatistics::peak),
          .boundary = join(&ResidualStatistics::boundary)};
}

}  // namespace piddm
