#include "piddm/numerics/serial_gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PIDDM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PIDDM_CLONES
#endif

namespace piddm {
namespace {

constexpr int64_t kRows = 4, kWidth = 32;  // of the tile of C that is kept in registers

/// kCount rows of C, one panel wide: sums over k in ascending order.
template <int64_t kCount, class T>
[[gnu::always_inline]] inline void multiply_rows(int64_t n, const T* a, const T* panel, T* c, int64_t stride,
                                                 int64_t width) {
  T sum[kCount][kWidth] = {};
  for (int64_t k = 0; k < n; ++k) {
    const T* b = panel + k * kWidth;
    for (int64_t row = 0; row < kCount; ++row) {
      const T factor = a[row * n + k];
      for (int64_t j = 0; j < kWidth; ++j) sum[row][j] += factor * b[j];
    }
  }
  for (int64_t row = 0; row < kCount; ++row) std::memcpy(c + row * stride, sum[row], width * sizeof(T));
}

template <class T>
[[gnu::always_inline]] inline void gemm(int64_t p, int64_t q, int64_t n, const T* a, const T* b, T* c, T* panel) {
  for (int64_t column = 0; column < q; column += kWidth) {
    const int64_t width = std::min(kWidth, q - column);
    for (int64_t k = 0; k < n; ++k) std::memcpy(panel + k * kWidth, b + k * q + column, width * sizeof(T));
    int64_t row = 0;
    for (; row + kRows <= p; row += kRows) multiply_rows<kRows>(n, a + row * n, panel, c + row * q + column, q, width);
    for (; row < p; ++row) multiply_rows<1>(n, a + row * n, panel, c + row * q + column, q, width);
  }
}

PIDDM_CLONES void gemm_double(int64_t p, int64_t q, int64_t n, const double* a, const double* b, double* c,
                              double* panel) {
  gemm(p, q, n, a, b, c, panel);
}

PIDDM_CLONES void gemm_float(int64_t p, int64_t q, int64_t n, const float* a, const float* b, float* c, float* panel) {
  gemm(p, q, n, a, b, c, panel);
}

}  // namespace

void serial_gemm(int64_t p, int64_t q, int64_t n, const double* a, const double* b, double* c) {
  std::vector<double> panel(n * kWidth);
  gemm_double(p, q, n, a, b, c, panel.data());
}

void serial_gemm(int64_t p, int64_t q, int64_t n, const float* a, const float* b, float* c) {
  std::vector<float> panel(n * kWidth);
  gemm_float(p, q, n, a, b, c, panel.data());
}

}  // namespace piddm
