#include "piddm/eval/phases.h"

#include <ATen/Parallel.h>

#include <limits>
#include <numeric>

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr int64_t kBatch = 256;  // samples treated at a time: bounds the memory of copies

/// Regions of one field of H x W cells, told apart by their bytes.
class Regions {
 public:
  Regions(int64_t h, int64_t w) : h_(h), w_(w), parent_(static_cast<size_t>(h * w)) {}

  int64_t count(const uint8_t* cells) {
    std::iota(parent_.begin(), parent_.end(), 0);
    int64_t regions = h_ * w_;
    for (int64_t i = 0; i < h_; ++i)
      for (int64_t j = 0; j < w_; ++j) {
        const auto cell = static_cast<int32_t>(i * w_ + j);
        if (j > 0 && cells[cell] == cells[cell - 1]) regions -= join(cell, cell - 1);
        if (i > 0 && cells[cell] == cells[cell - w_]) regions -= join(cell, static_cast<int32_t>(cell - w_));
      }
    return regions;
  }

 private:
  int32_t& parent(int32_t cell) { return parent_[static_cast<size_t>(cell)]; }

  int32_t root(int32_t cell) {
    while (parent(cell) != cell) cell = parent(cell) = parent(parent(cell));  // halves the path
    return cell;
  }

  /// 1 where two regions became one.
  int64_t join(int32_t a, int32_t b) {
    const int32_t first = root(a), second = root(b);
    if (first == second) return 0;
    parent(std::max(first, second)) = std::min(first, second);
    return 1;
  }

  int64_t h_, w_;
  std::vector<int32_t> parent_;
};

/// [n] of a batch [n,H,W], for all samples.
template <class Value>
Tensor of_samples(const Tensor& a, Value&& value) {
  require<DataError>(a.dim() == 3 && a.numel() > 0, "[phases] expected fields (N,H,W), got {}", shape_string(a));
  std::vector<Tensor> parts;
  for (const auto& part : a.detach().split(kBatch)) {
    const auto finite = torch::isfinite(part).flatten(1).all(1).to(torch::kCPU);
    const Tensor values = value(part).to(torch::kCPU, torch::kFloat64);
    parts.push_back(torch::where(finite, values, torch::full_like(values, std::numeric_limits<double>::quiet_NaN())));
  }
  return torch::cat(parts);
}

Tensor high_phase(const Tensor& a, double low, double high) { return a > (low + high) / 2; }

}  // namespace

Tensor between_values(const Tensor& a, double low, double high) {
  const double margin = kBetweenMargin * (high - low);
  return of_samples(a, [&](const Tensor& x) {
    return (x > low + margin).logical_and(x < high - margin).to(torch::kFloat64).flatten(1).mean(1);
  });
}

Tensor interface_length(const Tensor& a, double low, double high) {
  const int64_t h = a.size(-2), w = a.size(-1), pairs = h * (w - 1) + (h - 1) * w;
  return of_samples(a, [&](const Tensor& x) {
    const auto phase = high_phase(x, low, high);
    const auto changes = [&](int64_t axis, int64_t n) {
      return phase.narrow(axis, 1, n - 1).ne(phase.narrow(axis, 0, n - 1)).flatten(1).sum(1).to(torch::kFloat64);
    };
    return (changes(1, h) + changes(2, w)) / static_cast<double>(pairs);
  });
}

Tensor islands(const Tensor& a, double low, double high) {
  return of_samples(a, [&](const Tensor& x) {
    const auto phase = high_phase(x, low, high).to(torch::kCPU, torch::kUInt8).contiguous();
    const int64_t h = x.size(1), w = x.size(2);
    const auto counts = torch::empty({x.size(0)}, torch::kFloat64);
    const auto* cells = phase.data_ptr<uint8_t>();
    auto* out = counts.data_ptr<double>();
    at::parallel_for(0, x.size(0), 1, [&](int64_t begin, int64_t end) {
      Regions regions(h, w);
      for (int64_t i = begin; i < end; ++i) out[i] = static_cast<double>(regions.count(cells + i * h * w));
    });
    return counts;
  });
}

}  // namespace piddm
