#include "piddm/numerics/serial_gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace piddm {
namespace {

/// How the tile of C that is kept in registers is cut: kRows rows, kVectors vectors of kBytes wide.
template <class Scalar, int64_t kBytes, int64_t kRows_, int64_t kVectors_>
struct Tile {
  using T = Scalar;
  using Vector [[gnu::vector_size(kBytes)]] = Scalar;
  static constexpr int64_t kLanes = kBytes / sizeof(Scalar), kRows = kRows_, kVectors = kVectors_,
                           kWidth = kLanes * kVectors_;
};

/// kCount rows of C, one panel wide: sums over k in ascending order.
template <class Shape, int64_t kCount, class T = typename Shape::T>
[[gnu::always_inline]] inline void multiply_rows(int64_t n, const T* a, int64_t a_stride, const T* panel, T* c,
                                                 int64_t c_stride, int64_t width) {
  using Vector = typename Shape::Vector;
  Vector sum[kCount][Shape::kVectors] = {};
  for (int64_t k = 0; k < n; ++k) {
    Vector b[Shape::kVectors];
#pragma GCC unroll 4
    for (int64_t v = 0; v < Shape::kVectors; ++v)
      std::memcpy(&b[v], panel + k * Shape::kWidth + v * Shape::kLanes, sizeof b[v]);
#pragma GCC unroll 8
    for (int64_t row = 0; row < kCount; ++row) {
      const T factor = a[row * a_stride + k];
#pragma GCC unroll 4
      for (int64_t v = 0; v < Shape::kVectors; ++v) sum[row][v] += factor * b[v];
    }
  }
#pragma GCC unroll 8
  for (int64_t row = 0; row < kCount; ++row) {
    T line[Shape::kWidth];  // a copy: the sums themselves stay in registers
#pragma GCC unroll 4
    for (int64_t v = 0; v < Shape::kVectors; ++v) {
      const Vector part = sum[row][v];
      std::memcpy(line + v * Shape::kLanes, &part, sizeof part);
    }
    std::memcpy(c + row * c_stride, line, width * sizeof(T));
  }
}

/// Blocks of kCount rows from `row` on, then half as many at a time.
template <class Shape, int64_t kCount, class T = typename Shape::T>
[[gnu::always_inline]] inline void multiply_panel(int64_t row, int64_t p, int64_t n, MatrixView<const T> a,
                                                  const T* panel, MatrixView<T> c, int64_t width) {
  for (; row + kCount <= p; row += kCount)
    multiply_rows<Shape, kCount>(n, a.data + row * a.stride, a.stride, panel, c.data + row * c.stride, c.stride, width);
  if constexpr (kCount > 1) multiply_panel<Shape, kCount / 2>(row, p, n, a, panel, c, width);
}

template <class Shape, class T = typename Shape::T>
[[gnu::always_inline]] inline void gemm(int64_t p, int64_t q, int64_t n, MatrixView<const T> a, MatrixView<const T> b,
                                        MatrixView<T> c, T* panel) {
  for (int64_t column = 0; column < q; column += Shape::kWidth) {
    const int64_t width = std::min(Shape::kWidth, q - column);
    for (int64_t k = 0; k < n; ++k)
      std::memcpy(panel + k * Shape::kWidth, b.data + k * b.stride + column, width * sizeof(T));
    multiply_panel<Shape, Shape::kRows>(0, p, n, a, panel, {c.data + column, c.stride}, width);
  }
}

template <class T>
using Kernel = void (*)(int64_t, int64_t, int64_t, MatrixView<const T>, MatrixView<const T>, MatrixView<T>, T*);

constexpr int64_t kWidest = 128;  // bytes of a row of the widest tile

template <class T>
void gemm_baseline(int64_t p, int64_t q, int64_t n, MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                   T* panel) {
  gemm<Tile<T, 16, 4, 2>>(p, q, n, a, b, c, panel);
}

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2,fma")]] void gemm_avx2(int64_t p, int64_t q, int64_t n, MatrixView<const T> a,
                                           MatrixView<const T> b, MatrixView<T> c, T* panel) {
  gemm<Tile<T, 32, 4, 3>>(p, q, n, a, b, c, panel);
}

template <class T>
[[gnu::target("avx512f,avx512vl,avx512dq,fma")]] void gemm_avx512(int64_t p, int64_t q, int64_t n,
                                                                  MatrixView<const T> a, MatrixView<const T> b,
                                                                  MatrixView<T> c, T* panel) {
  gemm<Tile<T, 64, 8, 2>>(p, q, n, a, b, c, panel);
}
#endif

template <class T>
Kernel<T> best_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return gemm_avx512<T>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return gemm_avx2<T>;
#endif
  return gemm_baseline<T>;
}

template <class T>
void run(int64_t p, int64_t q, int64_t n, MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  static const Kernel<T> kernel = best_kernel<T>();
  thread_local std::vector<T> panel;
  panel.resize(std::max<size_t>(panel.size(), n * kWidest / sizeof(T)));
  kernel(p, q, n, a, b, c, panel.data());
}

}  // namespace

void serial_gemm(int64_t p, int64_t q, int64_t n, MatrixView<const double> a, MatrixView<const double> b,
                 MatrixView<double> c) {
  run(p, q, n, a, b, c);
}

void serial_gemm(int64_t p, int64_t q, int64_t n, MatrixView<const float> a, MatrixView<const float> b,
                 MatrixView<float> c) {
  run(p, q, n, a, b, c);
}

}  // namespace piddm
