#pragma once
// C = A B on one thread, always summed in the same order. BLAS changes the last bits of a product with the number of
// threads and with how matrices are batched; data that must be reproducible bit for bit go through this instead.
// Vectorised for the CPU it runs on (AVX-512, AVX2 or the baseline, chosen at run time).

#include <cstdint>

namespace piddm {

/// A row-major matrix inside a larger one: entry (i,j) at data[i * stride + j].
template <class T>
struct MatrixView {
  T* data;
  int64_t stride;
};

/// A [p,n], B [n,q], C [p,q]; C is overwritten and must not overlap A or B.
void serial_gemm(int64_t p, int64_t q, int64_t n, MatrixView<const double> a, MatrixView<const double> b,
                 MatrixView<double> c);
void serial_gemm(int64_t p, int64_t q, int64_t n, MatrixView<const float> a, MatrixView<const float> b,
                 MatrixView<float> c);

/// The same for dense matrices.
template <class T>
void serial_gemm(int64_t p, int64_t q, int64_t n, const T* a, const T* b, T* c) {
  serial_gemm(p, q, n, MatrixView<const T>{a, n}, MatrixView<const T>{b, q}, MatrixView<T>{c, q});
}

}  // namespace piddm
