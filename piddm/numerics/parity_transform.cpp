#include "piddm/numerics/parity_transform.h"

#include <algorithm>

namespace piddm {
namespace {

/// Rows parity, parity + 2, ... of M on the points 0..size-1, as a dense [size,size] matrix.
template <class T>
std::vector<T> half_matrix(const Tensor& matrix, int64_t parity, int64_t size, bool transposed) {
  const int64_t n = matrix.size(0);
  Tensor half = matrix.slice(0, parity, n, 2).narrow(1, 0, size);
  if (transposed) half = half.t();
  half = half.to(c10::CppTypeToScalarType<T>::value).contiguous();
  return {half.template data_ptr<T>(), half.template data_ptr<T>() + half.numel()};
}

template <class T>
MatrixView<const T> view(const std::vector<T>& matrix, int64_t size) {
  return {matrix.data(), size};
}

template <class T>
MatrixView<const T> constant(MatrixView<T> x) {
  return {x.data, x.stride};
}

/// sums and differences of mirrored numbers of one line; of an odd count the middle one goes to the sums.
template <class T>
void fold(int64_t n, const T* x, T* sums, T* differences) {
  for (int64_t i = 0; i < n / 2; ++i) {
    sums[i] = x[i] + x[n - 1 - i];
    differences[i] = x[i] - x[n - 1 - i];
  }
  if (n % 2) sums[n / 2] = x[n / 2];
}

template <class T>
void unfold(int64_t n, const T* even, const T* odd, T* x) {
  for (int64_t i = 0; i < n / 2; ++i) {
    x[i] = even[i] + odd[i];
    x[n - 1 - i] = even[i] - odd[i];
  }
  if (n % 2) x[n / 2] = even[n / 2];
}

}  // namespace

template <class T>
ParityTransform<T>::ParityTransform(const Tensor& matrix)
    : n_(matrix.size(0)),
      even_((n_ + 1) / 2),
      odd_(n_ / 2),
      even_modes_(half_matrix<T>(matrix, 0, even_, false)),
      odd_modes_(half_matrix<T>(matrix, 1, odd_, false)),
      even_transposed_(half_matrix<T>(matrix, 0, even_, true)),
      odd_transposed_(half_matrix<T>(matrix, 1, odd_, true)) {}

template <class T>
void ParityTransform<T>::rows_to_modes(int64_t m, MatrixView<const T> x, MatrixView<T> modes, T* work) const {
  T *sums = work, *differences = work + even_ * m;
  for (int64_t i = 0; i < odd_; ++i) {
    const T *top = x.data + i * x.stride, *bottom = x.data + (n_ - 1 - i) * x.stride;
    for (int64_t j = 0; j < m; ++j) {
      sums[i * m + j] = top[j] + bottom[j];
      differences[i * m + j] = top[j] - bottom[j];
    }
  }
  if (n_ % 2) std::copy_n(x.data + odd_ * x.stride, m, sums + odd_ * m);
  serial_gemm(even_, m, even_, view(even_modes_, even_), {sums, m}, {modes.data, 2 * modes.stride});
  serial_gemm(odd_, m, odd_, view(odd_modes_, odd_), {differences, m}, {modes.data + modes.stride, 2 * modes.stride});
}

template <class T>
void ParityTransform<T>::modes_to_rows(int64_t m, MatrixView<const T> modes, MatrixView<T> x, T* work) const {
  T *even = work, *odd = work + even_ * m;
  serial_gemm(even_, m, even_, view(even_transposed_, even_), {modes.data, 2 * modes.stride}, {even, m});
  serial_gemm(odd_, m, odd_, view(odd_transposed_, odd_), {modes.data + modes.stride, 2 * modes.stride}, {odd, m});
  for (int64_t i = 0; i < odd_; ++i) {
    T *top = x.data + i * x.stride, *bottom = x.data + (n_ - 1 - i) * x.stride;
    for (int64_t j = 0; j < m; ++j) {
      top[j] = even[i * m + j] + odd[i * m + j];
      bottom[j] = even[i * m + j] - odd[i * m + j];
    }
  }
  if (n_ % 2) std::copy_n(even + odd_ * m, m, x.data + odd_ * x.stride);
}

template <class T>
void ParityTransform<T>::columns_to_halves(int64_t p, MatrixView<const T> x, MatrixView<T> halves, T* work) const {
  for (int64_t row = 0; row < p; ++row) fold(n_, x.data + row * x.stride, work + row * n_, work + row * n_ + even_);
  serial_gemm(p, even_, even_, {work, n_}, view(even_transposed_, even_), halves);
  serial_gemm(p, odd_, odd_, {work + even_, n_}, view(odd_transposed_, odd_), {halves.data + even_, halves.stride});
}

template <class T>
void ParityTransform<T>::halves_to_columns(int64_t p, MatrixView<const T> halves, MatrixView<T> x, T* work) const {
  serial_gemm(p, even_, even_, halves, view(even_modes_, even_), {work, n_});
  serial_gemm(p, odd_, odd_, {halves.data + even_, halves.stride}, view(odd_modes_, odd_), {work + even_, n_});
  for (int64_t row = 0; row < p; ++row) unfold(n_, work + row * n_, work + row * n_ + even_, x.data + row * x.stride);
}

template <class T>
void ParityTransform<T>::columns_to_modes(int64_t p, MatrixView<const T> x, MatrixView<T> modes, T* work) const {
  columns_to_halves(p, x, modes, work);
  for (int64_t row = 0; row < p; ++row) {
    T *line = modes.data + row * modes.stride, *even = work, *odd = work + even_;
    std::copy_n(line, n_, work);
    for (int64_t i = 0; i < odd_; ++i) {
      line[2 * i] = even[i];
      line[2 * i + 1] = odd[i];
    }
    if (n_ % 2) line[n_ - 1] = even[odd_];
  }
}

template <class T>
void ParityTransform<T>::modes_to_columns(int64_t p, MatrixView<const T> modes, MatrixView<T> x, T* work) const {
  for (int64_t row = 0; row < p; ++row) {
    const T* line = modes.data + row * modes.stride;
    T *halves = work, *out = x.data + row * x.stride;
    for (int64_t i = 0; i < odd_; ++i) {
      halves[i] = line[2 * i];
      halves[even_ + i] = line[2 * i + 1];
    }
    if (n_ % 2) halves[odd_] = line[n_ - 1];
    std::copy_n(halves, n_, out);
  }
  halves_to_columns(p, constant(x), x, work);
}

template class ParityTransform<double>;
template class ParityTransform<float>;

}  // namespace piddm
