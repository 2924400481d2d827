#pragma once
// Orthonormal sine and cosine transforms on a cell-centred grid x_i = (i+1/2) h, h = 1/n, as dense matrices applied by
// GEMMs: any size, any floating dtype, CPU and CUDA. Rows are modes, columns are points, and the inverse is the
// transpose.
//
//   sine   (DST-II)  S[k-1,i] = c_k sin(pi k (i+1/2)/n), k = 1..n,    c_k = sqrt(2/n), c_n = sqrt(1/n)   Dirichlet, ghost -u
//   cosine (DCT-II)  C[k,i]   = c_k cos(pi k (i+1/2)/n), k = 0..n-1,  c_k = sqrt(2/n), c_0 = sqrt(1/n)   Neumann, ghost +u
//
// Both diagonalise the second difference -(u_{i-1} - 2 u_i + u_{i+1})/h^2 with the eigenvalues 4/h^2 sin^2(pi k/(2n)).

#include "piddm/core/tensor.h"

namespace piddm {

/// S as [n,n]; one tensor for each (n, dtype, device), shared by all callers and never to be written to. Thread-safe.
Tensor sine_matrix(int64_t n, torch::ScalarType dtype = torch::kFloat64, torch::Device device = torch::kCPU);

/// C as [n,n], likewise.
Tensor cosine_matrix(int64_t n, torch::ScalarType dtype = torch::kFloat64, torch::Device device = torch::kCPU);

/// 4/h^2 sin^2(pi k/(2n)) for the rows of S (k = 1..n), float64 [n].
Tensor sine_eigenvalues(int64_t n, double h);

/// left x right on the last two axes of x = [...,n,m]; left [p,n], right [m,q]; differentiable in x, not in the
/// matrices. On the CPU (float32, float64) each sample is two calls of serial_gemm and the threads share the samples, so
/// the bits of a sample depend neither on its batch nor on the number of threads.
Tensor apply_both_axes(const Tensor& left, const Tensor& x, const Tensor& right);

/// S x S^T and back: modes of a field with zero walls, [...,n,m].
Tensor sine_transform(const Tensor& x);
Tensor inverse_sine_transform(const Tensor& modes);

/// C x C^T and back: modes of a field with zero flux through the walls, [...,n,m].
Tensor cosine_transform(const Tensor& x);
Tensor inverse_cosine_transform(const Tensor& modes);

}  // namespace piddm
