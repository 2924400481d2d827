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

double EquationStatistics::mean_pde_error() const { return mean_in_order(pde_error); }

double EquationStatistics::reference_rms() const { return std::sqrt(mean_in_order(reference)); }

double EquationStatistics::rel_residual() const { return std::sqrt(mean_in_order(residual)) / reference_rms(); }

Tensor ResidualStatistics::pde_error() const {
  std::vector<Tensor> errors;
  for (const auto& equation : equations) errors.push_back(equation.pde_error);
  return mean_of(errors);
}

double ResidualStatistics::mean_pde_error() const { return mean_in_order(pde_error()); }

double ResidualStatistics::mean_boundary_error() const { return boundary.defined() ? mean_in_order(boundary) : 0; }

std::vector<double> ResidualStatistics::reference_rms() const {
  std::vector<double> all;
  for (const auto& equation : equations) all.push_back(equation.reference_rms());
  return all;
}

Tensor ResidualStatistics::residual(const std::vector<double>& reference_rms) const {
  std::vector<Tensor> squares = {equations.at(0).residual};
  for (size_t i = 1; i < equations.size(); ++i)
    squares.push_back(equations[i].residual * std::pow(reference_rms.at(0) / reference_rms.at(i), 2));
  return mean_of(squares);
}

double ResidualStatistics::rel_residual() const {
  const auto rms = reference_rms();
  return std::sqrt(mean_in_order(residual(rms))) / rms.at(0);
}

double ResidualStatistics::worst_rel_residual() const {
  const auto rms = reference_rms();
  return std::sqrt(residual(rms).max().item<double>()) / rms.at(0);
}

std::vector<std::pair<std::string, double>> residual_scores(const Pde& pde, const ResidualStatistics& statistics) {
  std::vector<std::pair<std::string, double>> scores = {{"pde_error", statistics.mean_pde_error()},
                                                        {"rel_residual", statistics.rel_residual()}};
  const auto names = pde.several_equations();
  for (size_t i = 0; i < names.size(); ++i) {
    scores.emplace_back("pde_error_" + names[i], statistics.equations[i].mean_pde_error());
    scores.emplace_back("rel_residual_" + names[i], statistics.equations[i].rel_residual());
  }
  return scores;
}

namespace {

EquationStatistics statistics_of(const ResidualField& field, double scale) {
  const double unit = scale * scale;
  const auto all = mean_squares(field.interior);
  return {.pde_error = all * unit,
          .residual = field.smooth.defined() ? mean_squares(field.interior, field.smooth) : all,
          .reference = mean_squares(field.reference, field.smooth),
          .peak = on_cpu(field.interior.square().amax({1, 2, 3})) * unit};
}

}  // namespace

ResidualStatistics residual_statistics(const Pde& pde, const Tensor& fields, int64_t batch) {
  const torch::NoGradGuard no_grad;
  const auto equations = pde.equations();
  std::vector<ResidualStatistics> parts;
  for (int64_t first = 0; first < fields.size(0); first += batch) {
    const auto x = fields.slice(0, first, first + batch).to(torch::kFloat64);
    const auto r = pde.residual(x);
    ResidualStatistics part;
    for (size_t i = 0; i < equations.size(); ++i)
      part.equations.push_back(statistics_of(r.fields.at(i), equations[i].scale));
    if (r.boundary.defined()) part.boundary = mean_squares(r.boundary);
    parts.push_back(std::move(part));
  }
  return join_statistics(parts);
}

ResidualStatistics join_statistics(const std::vector<ResidualStatistics>& parts) {
  ResidualStatistics all;
  std::vector<Tensor> boundary;
  std::vector<std::vector<EquationStatistics>> equations;
  for (const auto& part : parts) {
    if (part.boundary.defined()) boundary.push_back(part.boundary);
    equations.resize(std::max(equations.size(), part.equations.size()));
    for (size_t i = 0; i < part.equations.size(); ++i) equations[i].push_back(part.equations[i]);
  }
  if (!boundary.empty()) all.boundary = torch::cat(boundary);
  for (const auto& pieces : equations) {
    const auto join = [&](Tensor EquationStatistics::*member) {
      std::vector<Tensor> tensors;
      for (const auto& piece : pieces) tensors.push_back(piece.*member);
      return torch::cat(tensors);
    };
    all.equations.push_back({.pde_error = join(&EquationStatistics::pde_error),
                             .residual = join(&EquationStatistics::residual),
                             .reference = join(&EquationStatistics::reference),
                             .peak = join(&EquationStatistics::peak)});
  }
  return all;
}

}  // namespace piddm
