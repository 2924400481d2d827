#include "piddm/data/check/law_check.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

constexpr int64_t kDrawnTogether = 64, kFewestDraws = 256, kMostDraws = 1024;
constexpr uint64_t kLawSeed = 0x6c61775f64726177;  // a seed of its own
constexpr int64_t kLawFirst = int64_t{1} << 40;    // and far out in its stream
constexpr double kSmallestDifference = 1e-6, kSameDraw = 1e-5;

/// Mean and mean square of each sample and coefficient channel: [N,C_a,2].
Tensor moments(const Tensor& a) {
  const auto x = a.to(torch::kFloat64);
  return torch::stack({x.mean({2, 3}), x.square().mean({2, 3})}, 2);
}

template <class F>
Tensor in_batches(int64_t n, const F& f) {
  std::vector<Tensor> parts;
  for (int64_t first = 0; first < n; first += kDrawnTogether)
    parts.push_back(f(first, std::min(kDrawnTogether, n - first)));
  return torch::cat(parts);
}

LawScore compare(const Tensor& data, const Tensor& law, double size) {
  LawScore score;
  score.data = data.mean().item<double>();
  score.law = law.mean().item<double>();
  const auto n = static_cast<double>(data.numel()), m = static_cast<double>(law.numel());
  const double error = law.std().item<double>() * std::sqrt(1 / n + 1 / m);
  const double difference = score.data - score.law;
  if (std::abs(difference) > kSmallestDifference * size) score.z = difference / std::max(error, 1e-300);
  return score;
}

}  // namespace

std::vector<LawScore> compare_with_law(const Pde& pde, const Tensor& fields) {
  if (!pde.has_law()) return {};
  const int64_t draws = std::clamp(fields.size(0), kFewestDraws, kMostDraws);
  const auto law = in_batches(draws, [&](int64_t first, int64_t count) {
    return moments(pde.sample_coefficients(kLawSeed, kLawFirst + first, count));
  });
  const auto data = in_batches(fields.size(0), [&](int64_t first, int64_t count) {
    return moments(pde.coefficients(fields.narrow(0, first, count)));
  });
  std::vector<LawScore> scores;
  for (int64_t c = 0; c < law.size(1); ++c) {
    const double square = law.select(1, c).select(1, 1).mean().item<double>();
    for (int64_t k = 0; k < 2; ++k) {
      auto score =
          compare(data.select(1, c).select(1, k), law.select(1, c).select(1, k), k == 0 ? std::sqrt(square) : square);
      score.channel = pde.channels()[static_cast<size_t>(pde.num_solution_channels() + c)].name;
      score.statistic = k == 0 ? "mean" : "mean square";
      scores.push_back(score);
    }
  }
  return scores;
}

int64_t count_other_coefficients(const Pde& pde, const Tensor& fields, uint64_t seed, int64_t first) {
  const auto other = in_batches(std::min(fields.size(0), kMostDraws), [&](int64_t begin, int64_t count) {
    const auto drawn = pde.sample_coefficients(seed, first + begin, count);
    const auto stored = pde.coefficients(fields.narrow(0, begin, count)).to(torch::kFloat64);
    const auto size = drawn.square().mean({2, 3}, true).sqrt();
    return (stored - drawn).abs().gt(kSameDraw * size).flatten(1).any(1);
  });
  return other.sum().item<int64_t>();
}

}  // namespace piddm
