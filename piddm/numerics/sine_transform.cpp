#include "piddm/numerics/sine_transform.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "piddm/core/error.h"
#include "piddm/numerics/parity_transform.h"
#include "piddm/numerics/serial_gemm.h"

namespace piddm {
namespace {

enum class Kind { sine, cosine, node_sine };

/// sin or cos of pi numerator/denominator, the angle reduced exactly before rounding.
double wave(Kind kind, int64_t numerator, int64_t denominator) {
  const double angle =
      std::numbers::pi / static_cast<double>(denominator) * static_cast<double>(numerator % (2 * denominator));
  return kind == Kind::cosine ? std::cos(angle) : std::sin(angle);
}

Tensor build_matrix(Kind kind, int64_t n) {
  const Tensor matrix = torch::empty({n, n}, torch::kFloat64);
  auto m = matrix.accessor<double, 2>();
  for (int64_t row = 0; row < n; ++row) {
    const int64_t k = kind == Kind::cosine ? row : row + 1;
    if (kind == Kind::node_sine) {
      const double scale = std::sqrt(2 / static_cast<double>(n + 1));
      for (int64_t i = 0; i < n; ++i) m[row][i] = scale * wave(kind, k * (i + 1), n + 1);
    } else {
      const double scale = std::sqrt((k == 0 || k == n ? 1.0 : 2.0) / static_cast<double>(n));
      for (int64_t i = 0; i < n; ++i) m[row][i] = scale * wave(kind, k * (2 * i + 1), 2 * n);
    }
  }
  return matrix;
}

Tensor cached_matrix(Kind kind, int64_t n, torch::ScalarType dtype, torch::Device device) {
  static std::mutex mutex;
  static std::map<std::tuple<Kind, int64_t, torch::ScalarType, std::string>, Tensor> cache;
  require<UsageError>(n >= 1, "[transform] cannot transform {} points", n);
  const std::lock_guard lock(mutex);
  Tensor& entry = cache[{kind, n, dtype, device.str()}];
  if (!entry.defined()) {
    // The first caller may be in inference mode, a later one in training.
    const c10::InferenceMode normal_tensors(false);
    entry = build_matrix(kind, n).to(device, dtype);
  }
  return entry;
}

/// Whether the bit-reproducible kernels take it.
bool serial(const Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == torch::kFloat64 || x.scalar_type() == torch::kFloat32);
}

template <class T>
void multiply_samples(const Tensor& left, const Tensor& x, const Tensor& right, Tensor& out) {
  const int64_t p = left.size(0), n = left.size(1), m = right.size(0), q = right.size(1);
  at::parallel_for(0, x.size(0), 1, [&](int64_t begin, int64_t end) {
    std::vector<T> half(p * m);
    for (int64_t i = begin; i < end; ++i) {
      serial_gemm(p, m, n, left.data_ptr<T>(), x.data_ptr<T>() + i * n * m, half.data());
      serial_gemm(p, q, m, half.data(), right.data_ptr<T>(), out.data_ptr<T>() + i * p * q);
    }
  });
}

Tensor apply_serially(const Tensor& left, const Tensor& x, const Tensor& right) {
  auto shape = x.sizes().vec();
  shape.end()[-2] = left.size(0);
  shape.end()[-1] = right.size(1);
  Tensor out = torch::empty(shape, x.options());
  const Tensor samples = x.detach().reshape({-1, x.size(-2), x.size(-1)}).contiguous();
  if (x.scalar_type() == torch::kFloat64)
    multiply_samples<double>(left.contiguous(), samples, right.contiguous(), out);
  else
    multiply_samples<float>(left.contiguous(), samples, right.contiguous(), out);
  return out;
}

struct BothAxes : torch::autograd::Function<BothAxes> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& left, const Tensor& x,
                        const Tensor& right) {
    context->save_for_backward({left, right});
    return apply_serially(left, x, right);
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list grads) {
    const auto saved = context->get_saved_variables();
    return {Tensor(), apply_both_axes(saved[0].t(), grads[0], saved[1].t()), Tensor()};
  }
};

template <class T>
std::shared_ptr<const ParityTransform<T>> cached_halves(Kind kind, int64_t n) {
  static std::mutex mutex;
  static std::map<std::pair<Kind, int64_t>, std::shared_ptr<const ParityTransform<T>>> cache;
  const Tensor matrix = cached_matrix(kind, n, torch::kFloat64, torch::kCPU);
  const std::lock_guard lock(mutex);
  auto& entry = cache[{kind, n}];
  if (!entry) entry = std::make_shared<const ParityTransform<T>>(matrix);
  return entry;
}

template <class T>
Tensor transform_samples(Kind kind, const Tensor& x, bool inverse) {
  const int64_t n = x.size(-2), m = x.size(-1);
  const auto rows = cached_halves<T>(kind, n), columns = cached_halves<T>(kind, m);
  const Tensor in = x.detach().contiguous(), out = torch::empty_like(in);
  at::parallel_for(0, in.numel() / std::max<int64_t>(1, n * m), 1, [&](int64_t begin, int64_t end) {
    std::vector<T> work(n * m);
    for (int64_t i = begin; i < end; ++i) {
      const MatrixView<const T> from{in.data_ptr<T>() + i * n * m, m};
      const MatrixView<T> to{out.data_ptr<T>() + i * n * m, m};
      if (inverse) {
        rows->modes_to_rows(m, from, to, work.data());
        columns->modes_to_columns(n, {to.data, m}, to, work.data());
      } else {
        rows->rows_to_modes(m, from, to, work.data());
        columns->columns_to_modes(n, {to.data, m}, to, work.data());
      }
    }
  });
  return out;
}

Tensor transform(Kind kind, const Tensor& x, bool inverse);

struct Transform : torch::autograd::Function<Transform> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, int64_t kind, bool inverse) {
    context->saved_data["kind"] = kind;
    context->saved_data["inverse"] = inverse;
    return x.scalar_type() == torch::kFloat64 ? transform_samples<double>(static_cast<Kind>(kind), x, inverse)
                                              : transform_samples<float>(static_cast<Kind>(kind), x, inverse);
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list grads) {
    const auto kind = static_cast<Kind>(context->saved_data["kind"].toInt());
    return {transform(kind, grads[0], !context->saved_data["inverse"].toBool()), Tensor(), Tensor()};
  }
};

Tensor transform(Kind kind, const Tensor& x, bool inverse) {
  require<DataError>(x.dim() >= 2, "[transform] cannot transform a tensor {}", shape_string(x));
  if (serial(x)) return Transform::apply(x, static_cast<int64_t>(kind), inverse);
  const Tensor rows = cached_matrix(kind, x.size(-2), x.scalar_type(), x.device());
  const Tensor columns = cached_matrix(kind, x.size(-1), x.scalar_type(), x.device());
  return inverse ? apply_both_axes(rows.t(), x, columns) : apply_both_axes(rows, x, columns.t());
}

}  // namespace

Tensor sine_matrix(int64_t n, torch::ScalarType dtype, torch::Device device) {
  return cached_matrix(Kind::sine, n, dtype, device);
}

Tensor cosine_matrix(int64_t n, torch::ScalarType dtype, torch::Device device) {
  return cached_matrix(Kind::cosine, n, dtype, device);
}

Tensor node_sine_matrix(int64_t n, torch::ScalarType dtype, torch::Device device) {
  return cached_matrix(Kind::node_sine, n, dtype, device);
}

Tensor node_sine_eigenvalues(int64_t n, double h) { return sine_eigenvalues(n + 1, h).narrow(0, 0, n); }

Tensor sine_eigenvalues(int64_t n, double h) {
  const Tensor k = torch::arange(1, n + 1, torch::kFloat64);
  return torch::sin(k * (std::numbers::pi / static_cast<double>(2 * n))).square() * (4 / (h * h));
}

Tensor apply_both_axes(const Tensor& left, const Tensor& x, const Tensor& right) {
  require<DataError>(x.dim() >= 2 && left.size(1) == x.size(-2) && right.size(0) == x.size(-1),
                     "[transform] matrices {} and {} do not fit a field {}", shape_string(left), shape_string(right),
                     shape_string(x));
  require<DataError>(left.scalar_type() == x.scalar_type() && right.scalar_type() == x.scalar_type() &&
                         left.device() == x.device() && right.device() == x.device(),
                     "[transform] matrices and field differ in dtype or device");
  if (!serial(x)) return torch::matmul(torch::matmul(left, x), right);
  return BothAxes::apply(left, x, right);
}

Tensor sine_transform(const Tensor& x) { return transform(Kind::sine, x, false); }
Tensor inverse_sine_transform(const Tensor& modes) { return transform(Kind::sine, modes, true); }
Tensor node_sine_transform(const Tensor& x) { return transform(Kind::node_sine, x, false); }
Tensor cosine_transform(const Tensor& x) { return transform(Kind::cosine, x, false); }
Tensor inverse_cosine_transform(const Tensor& modes) { return transform(Kind::cosine, modes, true); }

}  // namespace piddm
