#include "piddm/core/rng.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "piddm/core/clones.h"

namespace piddm {

namespace {

constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr double kTwoToMinus32 = 1.0 / 4294967296.0;

PhiloxBlock counter_of(Stream stream, uint64_t sample, uint64_t block) {
  return {static_cast<uint32_t>(block), static_cast<uint32_t>(stream), static_cast<uint32_t>(sample),
          static_cast<uint32_t>(sample >> 32)};
}

// (0,1): the midpoint of the integer's cell, so that neither 0 nor 1 occurs.
double to_unit(uint32_t bits) { return (bits + 0.5) * kTwoToMinus32; }

std::array<double, 4> uniforms(const PhiloxBlock& bits) {
  return {to_unit(bits[0]), to_unit(bits[1]), to_unit(bits[2]), to_unit(bits[3])};
}

// Box-Muller: r = sqrt(-2 ln u1), (r cos 2 pi u2, r sin 2 pi u2).
std::array<double, 4> normals(const PhiloxBlock& bits) {
  const auto u = uniforms(bits);
  const double r0 = std::sqrt(-2 * std::log(u[0])), r1 = std::sqrt(-2 * std::log(u[2]));
  const double angle0 = 2 * std::numbers::pi * u[1], angle1 = 2 * std::numbers::pi * u[3];
  return {r0 * std::cos(angle0), r0 * std::sin(angle0), r1 * std::cos(angle1), r1 * std::sin(angle1)};
}

constexpr int64_t kLanes = 64;

/// Many counters side by side.
struct PhiloxLanes {
  uint32_t word[4][kLanes] = {};

  void set(int64_t lane, const PhiloxBlock& counter) {
    for (int k = 0; k < 4; ++k) word[k][lane] = counter[k];
  }
  PhiloxBlock get(int64_t lane) const { return {word[0][lane], word[1][lane], word[2][lane], word[3][lane]}; }
};

/// philox() of every lane.
PIDDM_CLONES void philox_lanes(PhiloxLanes& x, uint64_t key) {
  auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const uint64_t product0 = uint64_t{kMultiplier0} * x.word[0][lane];
      const uint64_t product1 = uint64_t{kMultiplier1} * x.word[2][lane];
      x.word[0][lane] = static_cast<uint32_t>(product1 >> 32) ^ x.word[1][lane] ^ key0;
      x.word[1][lane] = static_cast<uint32_t>(product1);
      x.word[2][lane] = static_cast<uint32_t>(product0 >> 32) ^ x.word[3][lane] ^ key1;
      x.word[3][lane] = static_cast<uint32_t>(product0);
    }
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
}

template <class T, class Transform>
void fill(T* out, uint64_t seed, Stream stream, int64_t first, int64_t count, int64_t size, Transform transform) {
  const int64_t blocks = (size + 3) / 4;
  at::parallel_for(0, count * blocks, 2048, [&](int64_t begin, int64_t end) {
    for (int64_t start = begin; start < end; start += kLanes) {
      const int64_t lanes = std::min(kLanes, end - start);
      PhiloxLanes bits;
      for (int64_t lane = 0, sample = start / blocks, block = start % blocks; lane < lanes; ++lane) {
        bits.set(lane, counter_of(stream, first + sample, block));
        if (++block == blocks) block = 0, ++sample;
      }
      philox_lanes(bits, seed);
      for (int64_t lane = 0, sample = start / blocks, block = start % blocks; lane < lanes; ++lane) {
        const auto values = transform(bits.get(lane));
        const int64_t n = std::min<int64_t>(4, size - 4 * block);
        for (int64_t k = 0; k < n; ++k) out[sample * size + 4 * block + k] = static_cast<T>(values[k]);
        if (++block == blocks) block = 0, ++sample;
      }
    }
  });
}

template <class Transform>
Tensor draw(uint64_t seed, Stream stream, int64_t first, int64_t count, const std::vector<int64_t>& shape,
            torch::ScalarType dtype, Transform transform) {
  TORCH_CHECK(first >= 0 && count >= 0, "[rng] sample indices must not be negative");
  std::vector<int64_t> sizes{count};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  const int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  auto out = torch::empty(sizes, dtype);
  if (dtype == torch::kFloat32)
    fill(out.data_ptr<float>(), seed, stream, first, count, size, transform);
  else
    fill(out.data_ptr<double>(), seed, stream, first, count, size, transform);
  return out;
}

}  // namespace

PhiloxBlock philox(PhiloxBlock counter, uint64_t key) {
  auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * counter[0], product1 = uint64_t{kMultiplier1} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

Tensor normal(uint64_t seed, Stream stream, int64_t first, int64_t count, const std::vector<int64_t>& shape,
              torch::ScalarType dtype) {
  return draw(seed, stream, first, count, shape, dtype, normals);
}

Tensor uniform(uint64_t seed, Stream stream, int64_t first, int64_t count, const std::vector<int64_t>& shape,
               torch::ScalarType dtype) {
  return draw(seed, stream, first, count, shape, dtype, uniforms);
}

Tensor permutation(uint64_t seed, Stream stream, int64_t index, int64_t n) {
  std::vector<std::pair<uint64_t, int64_t>> keyed(n);
  for (int64_t i = 0; i < n; ++i) {
    const auto bits = philox(counter_of(stream, index, i), seed);
    keyed[i] = {uint64_t{bits[0]} << 32 | bits[1], i};
  }
  std::sort(keyed.begin(), keyed.end());
  auto out = torch::empty({n}, torch::kInt64);
  for (int64_t i = 0; i < n; ++i) out.data_ptr<int64_t>()[i] = keyed[i].second;
  return out;
}

}  // namespace piddm
