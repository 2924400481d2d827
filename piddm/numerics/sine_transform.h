#pragma once
// Orthonormal sine and cosine transforms as dense matrices applied by GEMMs: any size, any floating dtype, CPU and
// CUDA. Rows are modes, columns are points, and the inverse is the transpose.
//
// On a cell-centred grid x_i = (i+1/2) h, h = 1/n:
//   sine   (DST-II)  S[k-1,i] = c_k sin(pi k (i+1/2)/n), k = 1..n,    c_k = sqrt(2/n), c_n = sqrt(1/n)
//   cosine (DCT-II)  C[k,i]   = c_k cos(pi k (i+1/2)/n), k = 0..n-1,  c_k = sqrt(2/n), c_0 = sqrt(1/n)
// for Dirichlet (ghost value -u) and Neumann conditions (ghost value +u). On the n inner nodes x_i = i h, i = 1..n,
// h = 1/(n+1), for Dirichlet conditions with zero ends:
//   node sine (DST-I) N[k-1,i-1] = sqrt(2/(n+1)) sin(pi k i/(n+1)), k = 1..n
//
// They diagonalise the second difference -(u_{i-1} - 2 u_i + u_{i+1})/h^2 with the eigenvalues 4/h^2 sin^2(pi k h/2).
//
// On the CPU (float32, float64) a transform of both axes is done sample by sample with serial_gemm on half matrices
// (parity_transform.h) and the threads share the samples, so the bits of a sample depend neither on its batch nor on
// the number of threads. All are differentiable, twice and more.

#include "piddm/core/tensor.h"

namespace piddm {

/// S as [n,n]; one tensor for each (n, dtype, device), shared by all callers and never to be written to. Thread-safe.
Tensor sine_matrix(int64_t n, torch::ScalarType dtype = torch::kFloat64, torch::Device device = torch::kCPU);

/// C as [n,n], likewise.
Tensor cosine_matrix(int64_t n, torch::ScalarType dtype = torch::kFloat64, torch::Device device = torch::kCPU);

/// N as [n,n], likewise; symmetric.
Tensor node_sine_matrix(int64_t n, torch::ScalarType dtype = torch::kFloat64, torch::Device device = torch::kCPU);

/// 4/h^2 sin^2(pi k/(2n)) for the rows of S (k = 1..n), float64 [n].
Tensor sine_eigenvalues(int64_t n, double h);

/// 4/h^2 sin^2(pi k/(2(n+1))) for the rows of N (k = 1..n), float64 [n].
Tensor node_sine_eigenvalues(int64_t n, double h);

/// left x right on the last two axes of x = [...,n,m]; left [p,n], right [m,q]; differentiable in x, not in the
/// matrices. On the CPU (float32, float64) each sample is two calls of serial_gemm, with the same promise about bits.
Tensor apply_both_axes(const Tensor& left, const Tensor& x, const Tensor& right);

/// S x S^T and back: modes of a field with zero walls, [...,n,m].
Tensor sine_transform(const Tensor& x);
Tensor inverse_sine_transform(const Tensor& modes);

/// N x N^T, its own inverse: modes of the inner nodes of a field with zero ends, [...,n,m].
Tensor node_sine_transform(const Tensor& x);

/// C x C^T and back: modes of a field with zero flux through the walls, [...,n,m].
Tensor cosine_transform(const Tensor& x);
Tensor inverse_cosine_transform(const Tensor& modes);

}  // namespace piddm
