#include "piddm/core/rng.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "piddm/core/clones.h"
#include "piddm/core/cuda.h"
#include "piddm/cuda/random.h"

namespace piddm {

namespace {

using detail::kMultiplier0, detail::kMultiplier1, detail::kWeyl0, detail::kWeyl1, detail::to_unit;

PhiloxBlock counter_of(Stream stream, uint64_t sample, uint64_t block) {
  return detail::counter_of(static_cast<uint32_t>(stream), sample, block);
}

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
  PhiloxBlock get(int64_t lane) const { return {{word[0][lane], word[1][lane], word[2][lane], word[3][lane]}}; }
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

/// Which numbers: samples first, first+1, ... of `sizes[1:]` numbers each.
struct Request {
  uint64_t seed;
  Stream stream;
  int64_t first;
  std::vector<int64_t> sizes;  ///< [count, shape...]
  torch::ScalarType dtype;

  Request(uint64_t seed_, Stream stream_, int64_t first_, int64_t count, const std::vector<int64_t>& shape,
          torch::ScalarType dtype_)
      : seed(seed_), stream(stream_), first(first_), sizes{count}, dtype(dtype_) {
    TORCH_CHECK(first >= 0 && count >= 0, "[rng] sample indices must not be negative");
    sizes.insert(sizes.end(), shape.begin(), shape.end());
  }
  int64_t size() const { return std::accumulate(sizes.begin() + 1, sizes.end(), int64_t{1}, std::multiplies<>()); }
};

template <class Transform>
Tensor draw_on_cpu(const Request& r, Transform transform) {
  auto out = torch::empty(r.sizes, r.dtype);
  if (r.dtype == torch::kFloat32)
    fill(out.data_ptr<float>(), r.seed, r.stream, r.first, r.sizes[0], r.size(), transform);
  else
    fill(out.data_ptr<double>(), r.seed, r.stream, r.first, r.sizes[0], r.size(), transform);
  return out;
}

Tensor draw_on_cpu(cuda::Law law, const Request& r) {
  return law == cuda::Law::normal ? draw_on_cpu(r, normals) : draw_on_cpu(r, uniforms);
}

Tensor draw_on_gpu(cuda::Law law, const Request& r, const int64_t* first_device, torch::Device device) {
  const c10::DeviceGuard guard(device);
  auto out = torch::empty(r.sizes, torch::TensorOptions(r.dtype).device(device));
  if constexpr (cuda::kBuilt) {
    const cuda::Samples samples{r.seed, static_cast<uint32_t>(r.stream), first_device, r.first, r.sizes[0], r.size()};
    if (r.dtype == torch::kFloat32)
      cuda::draw(law, samples, out.data_ptr<float>(), cuda::current_stream());
    else
      cuda::draw(law, samples, out.data_ptr<double>(), cuda::current_stream());
  }
  return out;
}

Tensor draw(cuda::Law law, const Request& request, torch::Device device) {
  if (cuda::kBuilt && device.is_cuda()) return draw_on_gpu(law, request, nullptr, device);
  return draw_on_cpu(law, request).to(device);
}

}  // namespace

Tensor normal(uint64_t seed, Stream stream, int64_t first, int64_t count, const std::vector<int64_t>& shape,
              torch::ScalarType dtype, torch::Device device) {
  return draw(cuda::Law::normal, {seed, stream, first, count, shape, dtype}, device);
}

Tensor uniform(uint64_t seed, Stream stream, int64_t first, int64_t count, const std::vector<int64_t>& shape,
               torch::ScalarType dtype, torch::Device device) {
  return draw(cuda::Law::uniform, {seed, stream, first, count, shape, dtype}, device);
}

Tensor uniform(uint64_t seed, Stream stream, const Tensor& first, int64_t count, const std::vector<int64_t>& shape,
               torch::ScalarType dtype) {
  TORCH_CHECK(first.numel() == 1 && first.scalar_type() == torch::kInt64, "[rng] the first sample must be one int64");
  if (cuda::kBuilt && first.is_cuda())
    return draw_on_gpu(cuda::Law::uniform, {seed, stream, 0, count, shape, dtype}, first.data_ptr<int64_t>(),
                       first.device());
  return uniform(seed, stream, first.item<int64_t>(), count, shape, dtype, first.device());
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
