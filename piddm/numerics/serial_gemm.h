#pragma once
// C = A B on one thread, always summed in the same order. BLAS changes the last bits of a product with the number of
// threads and with how matrices are batched; data that must be reproducible bit for bit go through this instead.
// Vectorised for the CPU it runs on.

#include <cstdint>

namespace piddm {

/// A [p,n], B [n,q], C [p,q], all row-major and dense; C is overwritten and must not overlap A or B.
void serial_gemm(int64_t p, int64_t q, int64_t n, const double* a, const double* b, double* c);
void serial_gemm(int64_t p, int64_t q, int64_t n, const float* a, const float* b, float* c);

}  // namespace piddm
