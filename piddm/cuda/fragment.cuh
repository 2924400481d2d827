#pragma once
// Tiles of matrix products held by one warp, in one description for the three precisions.
//
// A product is D[16,8] += A[16,16] B[16,8]. With g = lane/4 and t = lane%4 a lane owns
//
//   A   rows g and g+8, four columns each: pairs p = 0, 1 of columns (8p+2t, 8p+2t+1)
//   B   the same four rows of column g
//   D   rows g and g+8, columns 2t and 2t+1
//
// Any order of the 16 summed indices will do as long as A and B agree. "natural" is the one above. "wide" gives a lane
// the four neighbours 4t .. 4t+3 (pair p: 4t+2p, 4t+2p+1), which memory delivers in one access. In bf16 a pair is one
// register and the product one m16n8k16 instruction; in tf32 a pair is two floats and the product two m16n8k8
// instructions; fp32 splits each operand in two tf32 numbers and adds the three products that matter. D of one product,
// rounded to pairs, is A of the next one: layers chain in registers.
//
// In bf16, values of an activation are kept as half-precision pairs ("activated" operands): their range is safe, they
// are more accurate, and GELU of a pair is computed at once. The other factor of such a product is packed as half, too.
// In tf32 and fp32 there is no such difference.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "piddm/cuda/built.h"

namespace piddm::cuda {

template <Precision P>
struct Storage {
  using Element = float;
  using Pair = float2;
  using Quad = float4;
};
template <>
struct Storage<Precision::bf16> {
  using Element = __nv_bfloat16;
  using Pair = uint32_t;
  using Quad = uint2;
};
template <Precision P>
using Element = typename Storage<P>::Element;
template <Precision P>
using Pair = typename Storage<P>::Pair;
template <Precision P>
using Quad = typename Storage<P>::Quad;

struct Lane {
  int g, t;
  __device__ Lane() : g(int(threadIdx.x & 31) >> 2), t(int(threadIdx.x & 3)) {}
};

__device__ inline void set(float2& pair, float x, float y) { pair = make_float2(x, y); }
__device__ inline void set(uint32_t& pair, float x, float y) {
  const __nv_bfloat162 packed = __floats2bfloat162_rn(x, y);
  pair = reinterpret_cast<const uint32_t&>(packed);
}
template <Precision P>
__device__ inline Pair<P> make_pair(float x, float y) {
  Pair<P> pair;
  set(pair, x, y);
  return pair;
}
__device__ inline float2 floats(float2 pair) { return pair; }
__device__ inline float2 floats(uint32_t pair) {
  return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}
__device__ inline float2 first(float4 quad) { return make_float2(quad.x, quad.y); }
__device__ inline float2 second(float4 quad) { return make_float2(quad.z, quad.w); }
__device__ inline uint32_t first(uint2 quad) { return quad.x; }
__device__ inline uint32_t second(uint2 quad) { return quad.y; }
__device__ inline float4 make_quad(float2 a, float2 b) { return make_float4(a.x, a.y, b.x, b.y); }
__device__ inline uint2 make_quad(uint32_t a, uint32_t b) { return make_uint2(a, b); }

template <Precision P>
struct FragmentA {
  Pair<P> v[4];  ///< [row g or g+8][pair] as v[row + 2 pair]
};
template <Precision P>
struct FragmentB {
  Pair<P> v[2];
};

/// Packed operands: a lane reads its share of a tile in one piece.
template <Precision P>
__device__ inline FragmentB<P> packed_b(const void* base, int tile) {
  FragmentB<P> b;
  const auto quad = reinterpret_cast<const Quad<P>*>(base)[tile * 32 + int(threadIdx.x & 31)];
  b.v[0] = first(quad), b.v[1] = second(quad);
  return b;
}
template <Precision P>
__device__ inline FragmentA<P> packed_a(const void* base, int tile) {
  FragmentA<P> a;
  const int at = tile * 32 + int(threadIdx.x & 31);
  if constexpr (P == Precision::bf16) {
    const uint4 all = __ldg(static_cast<const uint4*>(base) + at);
    a.v[0] = all.x, a.v[1] = all.y, a.v[2] = all.z, a.v[3] = all.w;
  } else {
    const auto low = __ldg(static_cast<const float4*>(base) + 2 * at),
               high = __ldg(static_cast<const float4*>(base) + 2 * at + 1);
    a.v[0] = first(low), a.v[1] = second(low), a.v[2] = first(high), a.v[3] = second(high);
  }
  return a;
}

__device__ inline void multiply_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply_half(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline uint32_t to_tf32(float x) {
  uint32_t y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
}
__device__ inline uint32_t tf32_rest(float x, uint32_t rounded) { return to_tf32(x - __uint_as_float(rounded)); }

/// d += a b.
template <Precision P>
__device__ inline void multiply(float (&d)[4], const FragmentA<P>& a, const FragmentB<P>& b) {
  if constexpr (P == Precision::bf16) {
    multiply_bf16(d, a.v, b.v);
  } else {
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const float x[4] = {a.v[2 * p].x, a.v[2 * p + 1].x, a.v[2 * p].y, a.v[2 * p + 1].y};
      const float y[2] = {b.v[p].x, b.v[p].y};
      const uint32_t xh[4] = {to_tf32(x[0]), to_tf32(x[1]), to_tf32(x[2]), to_tf32(x[3])};
      const uint32_t yh[2] = {to_tf32(y[0]), to_tf32(y[1])};
      if constexpr (P == Precision::fp32) {
        const uint32_t xl[4] = {tf32_rest(x[0], xh[0]), tf32_rest(x[1], xh[1]), tf32_rest(x[2], xh[2]),
                                tf32_rest(x[3], xh[3])};
        const uint32_t yl[2] = {tf32_rest(y[0], yh[0]), tf32_rest(y[1], yh[1])};
        multiply_tf32(d, xl, yh);
        multiply_tf32(d, xh, yl);
      }
      multiply_tf32(d, xh, yh);
    }
  }
}

/// The same with an activated operand.
template <Precision P>
__device__ inline void multiply_activated(float (&d)[4], const FragmentA<P>& a, const FragmentB<P>& b) {
  if constexpr (P == Precision::bf16)
    multiply_half(d, a.v, b.v);
  else
    multiply<P>(d, a, b);
}

/// The pairs of an 8x8 tile whose lane (g,t) holds (row g; columns 2t, 2t+1) -> (row = column g; columns = rows 2t,
/// 2t+1).
__device__ inline uint32_t transpose(uint32_t pair) {
  uint32_t y;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(pair));
  return y;
}
__device__ inline float2 transpose(float2 pair) {
  const Lane lane;
  const int from = 8 * lane.t + (lane.g >> 1);
  const float ax = __shfl_sync(~0u, pair.x, from), ay = __shfl_sync(~0u, pair.y, from);
  const float bx = __shfl_sync(~0u, pair.x, from + 4), by = __shfl_sync(~0u, pair.y, from + 4);
  return (lane.g & 1) ? make_float2(ay, by) : make_float2(ax, bx);
}

/// Operands from shared memory in which rows are summed over: element (k, i) at tile[k * stride + i].
/// Padding of a row that keeps the banks apart: kRowPad elements.
template <Precision P>
inline constexpr int kRowPad = P == Precision::bf16 ? 8 : 4;

template <Precision P>
__device__ inline FragmentB<P> b_from_rows(const Element<P>* tile, int stride) {
  FragmentB<P> b;
  if constexpr (P == Precision::bf16) {
    const int lane = int(threadIdx.x & 15);
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(tile + lane * stride));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(b.v[0]), "=r"(b.v[1])
                 : "r"(address)
                 : "memory");
  } else {
    const Lane lane;
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const float* at = tile + (8 * p + 2 * lane.t) * stride + lane.g;
      b.v[p] = make_float2(at[0], at[stride]);
    }
  }
  return b;
}

template <Precision P>
__device__ inline FragmentA<P> a_from_rows(const Element<P>* tile, int stride) {
  FragmentA<P> a;
  if constexpr (P == Precision::bf16) {
    const int lane = int(threadIdx.x & 31);
    const auto* at = tile + ((lane & 7) + (lane >> 4) * 8) * stride + ((lane >> 3) & 1) * 8;
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a.v[0]), "=r"(a.v[1]), "=r"(a.v[2]), "=r"(a.v[3])
                 : "r"(address)
                 : "memory");
  } else {
    const Lane lane;
#pragma unroll
    for (int p = 0; p < 2; ++p)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float* at = tile + (8 * p + 2 * lane.t) * stride + lane.g + 8 * r;
        a.v[r + 2 * p] = make_float2(at[0], at[stride]);
      }
  }
  return a;
}

/// Rows of points in shared memory, element (i, k) at tile[i * stride + k], as a left factor, natural order.
template <Precision P>
__device__ inline FragmentA<P> a_from_points(const Element<P>* tile, int stride) {
  FragmentA<P> a;
  if constexpr (P == Precision::bf16) {
    const int lane = int(threadIdx.x & 31);
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(tile + (lane & 15) * stride + (lane >> 4) * 8));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a.v[0]), "=r"(a.v[1]), "=r"(a.v[2]), "=r"(a.v[3])
                 : "r"(address)
                 : "memory");
  } else {
    const Lane lane;
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int p = 0; p < 2; ++p)
        a.v[r + 2 * p] = *reinterpret_cast<const float2*>(tile + (lane.g + 8 * r) * stride + 8 * p + 2 * lane.t);
  }
  return a;
}

/// Global to shared memory, 16 bytes, without a register in between; zeros where not `valid`. Finished after
/// copies_done() and a barrier.
__device__ inline void copy16(void* to, const void* from, bool valid) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(valid ? 16 : 0)
               : "memory");
}
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Pending = 0>
__device__ inline void copies_done() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Normal distribution and density in fp32 and tf32: erfc by Abramowitz and Stegun 7.1.26, absolute error 1e-7.
inline constexpr float kHalfRoot = 0.70710678118654752f, kDensity = 0.3989422804014327f;

struct Normal {
  float cdf, density;
  __device__ explicit Normal(float x) {
    const float t = __fdividef(1.f, fmaf(fabsf(x), 0.3275911f * kHalfRoot, 1.f)), e = __expf(-0.5f * x * x);
    const float p =
        fmaf(fmaf(fmaf(fmaf(1.061405429f, t, -1.453152027f), t, 1.421413741f), t, -0.284496736f), t, 0.254829592f);
    const float tail = 0.5f * p * t * e;
    cdf = x < 0 ? tail : 1.f - tail;
    density = kDensity * e;
  }
};

/// In half precision, two at once: Phi(x) = (1 + tanh(x (c0 + c1 u + c2 u^2))) / 2 with u = min(x^2, 18), fitted to
/// 6e-5; with rounding about 5e-4.
struct HalfNormal {
  __half2 cdf, u;
  __device__ explicit HalfNormal(__half2 x) {
    u = __hmin2(__hmul2(x, x), __float2half2_rn(18.f));
    const __half2 c0 = __float2half2_rn(0.797443563f), c1 = __float2half2_rn(3.70842187e-2f),
                  c2 = __float2half2_rn(-3.67958311e-4f);
    const __half2 z = __hmul2(x, __hfma2(u, __hfma2(u, c2, c1), c0)), half = __float2half2_rn(0.5f);
    uint32_t y;
    asm("tanh.approx.f16x2 %0, %1;" : "=r"(y) : "r"(reinterpret_cast<const uint32_t&>(z)));
    cdf = __hfma2(reinterpret_cast<const __half2&>(y), half, half);
  }
};
__device__ inline uint32_t bits(__half2 x) { return reinterpret_cast<const uint32_t&>(x); }

/// gelu(x), gelu(y) as an activated pair.
template <Precision P>
__device__ inline Pair<P> activated_pair(float x, float y) {
  if constexpr (P == Precision::bf16) {
    const __half2 z = __floats2half2_rn(x, y);
    return bits(__hmul2(z, HalfNormal(z).cdf));
  } else {
    return make_float2(x * Normal(x).cdf, y * Normal(y).cdf);
  }
}
template <Precision P>
__device__ inline Pair<P> activated_pair(Pair<P> pair) {
  const float2 x = floats(pair);
  return activated_pair<P>(x.x, x.y);
}

/// value = gelu(x), slope = gelu'(x).
template <Precision P>
__device__ inline void gelu_and_slope(float2 x, float2& value, float2& slope) {
  if constexpr (P == Precision::bf16) {
    const __half2 z = __floats2half2_rn(x.x, x.y);
    const HalfNormal normal(z);
    const __half2 exponent = __hmul2(normal.u, __float2half2_rn(-0.72134752f));
    uint32_t y;
    asm("ex2.approx.f16x2 %0, %1;" : "=r"(y) : "r"(bits(exponent)));
    const __half2 density = __hmul2(reinterpret_cast<const __half2&>(y), __float2half2_rn(kDensity));
    value = __half22float2(__hmul2(z, normal.cdf));
    slope = __half22float2(__hfma2(z, density, normal.cdf));
  } else {
    const Normal n0(x.x), n1(x.y);
    value = make_float2(x.x * n0.cdf, x.y * n1.cdf);
    slope = make_float2(fmaf(x.x, n0.density, n0.cdf), fmaf(x.y, n1.density, n1.cdf));
  }
}

}  // namespace piddm::cuda
