#include "piddm/solve/task/functionals.h"

namespace piddm {

namespace {

/// start_0, start_0 + 1, ..., `count_0` of them, then those of 1, ...
Tensor ranges(const Tensor& start, const Tensor& count) {
  const auto offset = (start - (count.cumsum(0) - count)).repeat_interleave(count);
  return offset + torch::arange(offset.size(0), offset.options());
}

/// How often 0, 1, ..., n-1 come.
Tensor counts(const Tensor& numbers, int64_t n) { return torch::bincount(numbers, {}, n); }

Tensor picked(const Tensor& x, const Tensor& at) { return x.defined() ? x.index_select(0, at) : x; }

/// The constant of each row's channel.
Tensor of_channels(const Functionals& f, const Normalizer& normalizer, double (Normalizer::*constant)(int64_t) const) {
  std::vector<double> all;
  for (int64_t c = 0; c < normalizer.num_channels(); ++c) all.push_back((normalizer.*constant)(c));
  return torch::tensor(all, torch::kFloat64).to(f.value.device()).index_select(0, f.channel).to(f.value.scalar_type());
}

}  // namespace

Tensor Functionals::apply(const Tensor& x) const {
  const int64_t entries = x.numel() / x.size(0);
  const auto at = sample.index_select(0, row) * entries + entry;
  const auto parts = x.reshape({-1}).index_select(0, at) * weight.to(x.scalar_type());
  return torch::zeros({size()}, parts.options().requires_grad(false)).index_add(0, row, parts);
}

Tensor Functionals::transposed(const Tensor& y, const Tensor& like) const {
  const int64_t entries = like.numel() / like.size(0);
  const auto at = sample.index_select(0, row) * entries + entry;
  const auto parts = y.index_select(0, row) * weight.to(y.scalar_type());
  return torch::zeros({like.numel()}, y.options().requires_grad(false)).index_add(0, at, parts).view(like.sizes());
}

Tensor Functionals::sum_by_sample(const Tensor& y, int64_t samples) const {
  return torch::zeros({samples}, y.options().requires_grad(false)).index_add(0, sample, y);
}

Tensor Functionals::count(int64_t samples) const { return counts(sample, samples); }

Tensor Functionals::place_in_sample() const {
  const auto of_sample = counts(sample, 0);
  const auto start = of_sample.cumsum(0) - of_sample;
  return torch::arange(size(), sample.options()) - start.index_select(0, sample);
}

Tensor Functionals::padded(const Tensor& y, int64_t samples) const {
  const int64_t most = counts(sample, samples).max().item<int64_t>();
  const auto at = sample * most + place_in_sample();
  return torch::zeros({samples * most}, y.options().requires_grad(false)).index_add(0, at, y).view({samples, most});
}

Tensor Functionals::unpadded(const Tensor& y) const {
  return y.reshape({-1}).index_select(0, sample * y.size(1) + place_in_sample());
}

Functionals Functionals::chosen(const Tensor& rows, const Tensor& new_sample) const {
  const auto of_row = counts(row, size()), start = of_row.cumsum(0) - of_row;
  const auto number = of_row.index_select(0, rows), entries = ranges(start.index_select(0, rows), number);
  return {.sample = new_sample,
          .channel = picked(channel, rows),
          .value = picked(value, rows),
          .sigma = picked(sigma, rows),
          .gain = picked(gain, rows),
          .row = torch::arange(rows.size(0), rows.options()).repeat_interleave(number),
          .entry = picked(entry, entries),
          .weight = picked(weight, entries),
          .trust = picked(trust, rows)};
}

Functionals Functionals::select(const Tensor& samples) const {
  if (empty() || samples.size(0) == 0) return {};
  const auto at = samples.to(sample.options());
  const auto of_sample = counts(sample, at.max().item<int64_t>() + 1), start = of_sample.cumsum(0) - of_sample;
  const auto number = of_sample.index_select(0, at);
  return chosen(ranges(start.index_select(0, at), number),
                torch::arange(at.size(0), at.options()).repeat_interleave(number));
}

Functionals Functionals::keep(const Tensor& kept) const {
  if (empty()) return {};
  const auto rows = kept.nonzero().squeeze(1);
  return chosen(rows, sample.index_select(0, rows));
}

Functionals Functionals::to(torch::Device device, torch::ScalarType dtype) const {
  if (empty()) return {};
  const auto real = [&](const Tensor& x) { return x.defined() ? x.to(device, dtype) : x; };
  return {.sample = sample.to(device),
          .channel = channel.to(device),
          .value = real(value),
          .sigma = real(sigma),
          .gain = real(gain),
          .row = row.to(device),
          .entry = entry.to(device),
          .weight = real(weight),
          .trust = real(trust)};
}

Functionals Functionals::to_network(const Normalizer& normalizer) const {
  if (empty()) return {};
  auto out = *this;
  const auto unit = of_channels(*this, normalizer, &Normalizer::scale) * gain;
  const auto sum = torch::zeros_like(value).index_add(0, row, weight);
  out.value = (value - of_channels(*this, normalizer, &Normalizer::shift) * sum) / unit;
  out.sigma = sigma / unit;
  out.weight = weight / gain.index_select(0, row);
  return out;
}

Functionals Functionals::to_physical(const Normalizer& normalizer) const {
  if (empty()) return {};
  auto out = *this;
  const auto unit = of_channels(*this, normalizer, &Normalizer::scale) * gain;
  out.weight = weight * gain.index_select(0, row);
  const auto sum = torch::zeros_like(value).index_add(0, row, out.weight);
  out.value = value * unit + of_channels(*this, normalizer, &Normalizer::shift) * sum;
  out.sigma = sigma * unit;
  return out;
}

}  // namespace piddm
