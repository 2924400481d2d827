#pragma once
// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) for host and device: the integers behind every random number of
// piddm (core/rng.h).

#include <cstdint>

#ifdef __CUDACC__
#define PIDDM_HOST_DEVICE __host__ __device__
#else
#define PIDDM_HOST_DEVICE
#endif

namespace piddm {

struct PhiloxBlock {
  uint32_t word[4];
  PIDDM_HOST_DEVICE uint32_t operator[](int k) const { return word[k]; }
  bool operator==(const PhiloxBlock&) const = default;
};

namespace detail {

inline constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
inline constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

/// The counter of four numbers: (position / 4, stream, sample index low, sample index high).
PIDDM_HOST_DEVICE inline PhiloxBlock counter_of(uint32_t stream, uint64_t sample, uint64_t block) {
  return {{static_cast<uint32_t>(block), stream, static_cast<uint32_t>(sample), static_cast<uint32_t>(sample >> 32)}};
}

/// (0,1): the midpoint of the integer's cell, so that neither 0 nor 1 occurs.
PIDDM_HOST_DEVICE inline double to_unit(uint32_t bits) { return (bits + 0.5) * (1.0 / 4294967296.0); }

}  // namespace detail

/// The raw generator: ten rounds on one counter.
PIDDM_HOST_DEVICE inline PhiloxBlock philox(PhiloxBlock counter, uint64_t key) {
  auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{detail::kMultiplier0} * counter.word[0];
    const uint64_t product1 = uint64_t{detail::kMultiplier1} * counter.word[2];
    counter = {{static_cast<uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0, static_cast<uint32_t>(product1),
                static_cast<uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1, static_cast<uint32_t>(product0)}};
    key0 += detail::kWeyl0;
    key1 += detail::kWeyl1;
  }
  return counter;
}

}  // namespace piddm
