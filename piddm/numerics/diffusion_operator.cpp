#include "piddm/numerics/diffusion_operator.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "piddm/core/clones.h"
#include "piddm/numerics/parity_transform.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {
namespace {

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors pass between inlined functions only

template <class T>
struct Vector {
  using Lanes [[gnu::vector_size(64)]] = T;
  static constexpr int64_t kLanes = 64 / sizeof(T);
};

template <class T>
[[gnu::always_inline]] inline typename Vector<T>::Lanes load(const T* from) {
  typename Vector<T>::Lanes x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

template <class T>
[[gnu::always_inline]] inline void store(T* to, const typename Vector<T>::Lanes& x) {
  std::memcpy(to, &x, sizeof x);
}

template <class T>
[[gnu::always_inline]] inline T total(const typename Vector<T>::Lanes& x) {
  T sums[Vector<T>::kLanes];
  std::memcpy(sums, &x, sizeof x);
  for (int64_t n = Vector<T>::kLanes / 2; n >= 4; n /= 2)
    for (int64_t i = 0; i < n; ++i) sums[i] += sums[i + n];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <class T>
using Layout = typename DiffusionOperator<T>::Layout;
template <class T>
using Weights = typename DiffusionOperator<T>::Weights;

template <class T>
[[gnu::always_inline]] inline typename Vector<T>::Lanes flux_sum(const Layout<T>& l, const Weights<T>& w, const T* u,
                                                                 int64_t at) {
  const auto centre = load(u + at);
  return load(&w.x[at]) * (centre - load(u + at - l.stride)) +
         load(&w.x[at + l.stride]) * (centre - load(u + at + l.stride)) + load(&w.y[at]) * (centre - load(u + at - 1)) +
         load(&w.y[at + 1]) * (centre - load(u + at + 1));
}

/// The passes over fields of one type.
template <class T>
struct Passes {
  using Lanes = typename Vector<T>::Lanes;
  static constexpr int64_t kLanes = Vector<T>::kLanes;

  [[gnu::always_inline]] static T next_direction(const Layout<T>& l, const Weights<T>& w, const T* z, T beta, T* p,
                                                 T* ap) {
    Lanes sum = {};
    for (int64_t i = 0; i <= l.rows; ++i) {
      if (i < l.rows)
        for (int64_t at = l.row(i), end = at + l.width; at < end; at += kLanes)
          store(p + at, load(z + at) + beta * load(p + at));
      if (i == 0) continue;
      const int64_t begin = l.row(i - 1);
      for (int64_t at = begin; at < begin + l.width; at += kLanes) {
        const Lanes flux = flux_sum<T>(l, w, p, at);
        sum += load(p + at) * flux;
        store(ap + at, flux);
      }
      std::fill(ap + begin + l.columns, ap + begin + l.width, T(0));
    }
    return total<T>(sum);
  }

  [[gnu::always_inline]] static T residual(const Layout<T>& l, const Weights<T>& w, const T* f, const T* u, T* r) {
    Lanes sum = {};
    for (int64_t i = 0; i < l.rows; ++i) {
      const int64_t begin = l.row(i);
      for (int64_t at = begin; at < begin + l.width; at += kLanes)
        store(r + at, load(f + at) - flux_sum<T>(l, w, u, at));
      std::fill(r + begin + l.columns, r + begin + l.width, T(0));
      for (int64_t at = begin; at < begin + l.width; at += kLanes) sum += load(r + at) * load(r + at);
    }
    return total<T>(sum);
  }

  [[gnu::always_inline]] static void apply(const Layout<T>& l, const Weights<T>& w, const T* u, T* out) {
    for (int64_t i = 0; i < l.rows; ++i) {
      const int64_t begin = l.row(i);
      for (int64_t at = begin; at < begin + l.width; at += kLanes) store(out + at, flux_sum<T>(l, w, u, at));
      std::fill(out + begin + l.columns, out + begin + l.width, T(0));
    }
  }

  [[gnu::always_inline]] static T advance(const Layout<T>& l, T alpha, const T* p, const T* ap, T* d, T* r) {
    Lanes sum = {};
    for (int64_t at = 0; at < l.size; at += kLanes) {
      const Lanes rest = load(r + at) - alpha * load(ap + at);
      store(d + at, load(d + at) + alpha * load(p + at));
      store(r + at, rest);
      sum += rest * rest;
    }
    return total<T>(sum);
  }

  [[gnu::always_inline]] static T inner_product(const Layout<T>& l, const T* x, const T* y) {
    Lanes sum = {};
    for (int64_t at = 0; at < l.size; at += kLanes) sum += load(x + at) * load(y + at);
    return total<T>(sum);
  }

  [[gnu::always_inline]] static void add(const Layout<T>& l, T factor, const T* x, T* y) {
    for (int64_t at = 0; at < l.size; at += kLanes) store(y + at, load(y + at) + factor * load(x + at));
  }

  /// (g_P - g_N)(v_P - v_N) of the faces before cells, N `step` entries before P.
  [[gnu::always_inline]] static Lanes face_product(const T* g, const T* v, int64_t step) {
    return (load(g) - load(g - step)) * (load(v) - load(v - step));
  }

  /// Faces lie before their cells, the last ones in the zeros behind the field.
  [[gnu::always_inline]] static void add_gradient(const Layout<T>& l, T factor, const T* g, const T* v, Weights<T>& w) {
    for (int64_t i = 0; i <= l.rows; ++i)
      for (int64_t at = l.row(i), end = at + l.stride; at < end; at += kLanes) {
        store(&w.x[at], load(&w.x[at]) + factor * face_product(g + at, v + at, l.stride));
        if (i < l.rows) store(&w.y[at], load(&w.y[at]) + factor * face_product(g + at, v + at, 1));
      }
  }

  /// Solves the n tridiagonal systems whose right-hand sides are the columns of `field` [rows,n], by their pivots'
  /// inverses.
  [[gnu::always_inline]] static void solve_tridiagonal(int64_t rows, int64_t n, const T* pivots, T* field) {
    for (int64_t k = 0; k < n; ++k) field[k] *= pivots[k];
    for (int64_t i = 1; i < rows; ++i) {
      const T *pivot = pivots + i * n, *before = field + (i - 1) * n;
      T* row = field + i * n;
      for (int64_t k = 0; k < n; ++k) row[k] = pivot[k] * (row[k] + before[k]);
    }
    for (int64_t i = rows - 2; i >= 0; --i) {
      const T *pivot = pivots + i * n, *after = field + (i + 1) * n;
      T* row = field + i * n;
      for (int64_t k = 0; k < n; ++k) row[k] += pivot[k] * after[k];
    }
  }
};

// Templates cannot be compiled for several instruction sets, so each pass stands here once for each type.
PIDDM_CLONES double next_direction(const Layout<double>& l, const Weights<double>& w, const double* z, double beta,
                                   double* p, double* ap) {
  return Passes<double>::next_direction(l, w, z, beta, p, ap);
}
PIDDM_CLONES float next_direction(const Layout<float>& l, const Weights<float>& w, const float* z, float beta, float* p,
                                  float* ap) {
  return Passes<float>::next_direction(l, w, z, beta, p, ap);
}

PIDDM_CLONES double residual(const Layout<double>& l, const Weights<double>& w, const double* f, const double* u,
                             double* r) {
  return Passes<double>::residual(l, w, f, u, r);
}
PIDDM_CLONES float residual(const Layout<float>& l, const Weights<float>& w, const float* f, const float* u, float* r) {
  return Passes<float>::residual(l, w, f, u, r);
}

PIDDM_CLONES void apply(const Layout<double>& l, const Weights<double>& w, const double* u, double* out) {
  return Passes<double>::apply(l, w, u, out);
}
PIDDM_CLONES void apply(const Layout<float>& l, const Weights<float>& w, const float* u, float* out) {
  return Passes<float>::apply(l, w, u, out);
}

PIDDM_CLONES double advance(const Layout<double>& l, double alpha, const double* p, const double* ap, double* d,
                            double* r) {
  return Passes<double>::advance(l, alpha, p, ap, d, r);
}
PIDDM_CLONES float advance(const Layout<float>& l, float alpha, const float* p, const float* ap, float* d, float* r) {
  return Passes<float>::advance(l, alpha, p, ap, d, r);
}

PIDDM_CLONES double inner_product(const Layout<double>& l, const double* x, const double* y) {
  return Passes<double>::inner_product(l, x, y);
}
PIDDM_CLONES float inner_product(const Layout<float>& l, const float* x, const float* y) {
  return Passes<float>::inner_product(l, x, y);
}

PIDDM_CLONES void add(const Layout<double>& l, double factor, const double* x, double* y) {
  return Passes<double>::add(l, factor, x, y);
}
PIDDM_CLONES void add(const Layout<float>& l, float factor, const float* x, float* y) {
  return Passes<float>::add(l, factor, x, y);
}

PIDDM_CLONES void add_gradient(const Layout<double>& l, double factor, const double* g, const double* v,
                               Weights<double>& w) {
  return Passes<double>::add_gradient(l, factor, g, v, w);
}
PIDDM_CLONES void add_gradient(const Layout<float>& l, float factor, const float* g, const float* v,
                               Weights<float>& w) {
  return Passes<float>::add_gradient(l, factor, g, v, w);
}

PIDDM_CLONES void solve_tridiagonal(int64_t rows, int64_t n, const double* pivots, double* field) {
  return Passes<double>::solve_tridiagonal(rows, n, pivots, field);
}
PIDDM_CLONES void solve_tridiagonal(int64_t rows, int64_t n, const float* pivots, float* field) {
  return Passes<float>::solve_tridiagonal(rows, n, pivots, field);
}

}  // namespace

template <class T>
DiffusionOperator<T>::Layout::Layout(const GridSize& points)
    : rows(points.height()),
      columns(points.width()),
      width((columns + kLanes - 1) / kLanes * kLanes),
      stride(width + kLanes),
      size((rows + 2) * stride + kLanes) {}

/// The pivots of h_H^2 A for a = 1 in the sine modes along W, even ones first.
template <class T>
struct DiffusionOperator<T>::Inverse {
  /// `ratio` is (h_H/h_W)^2.
  Inverse(const Layout& layout, double ratio)
      : sine(sine_matrix(layout.columns)), pivots(layout.rows * layout.columns) {
    const int64_t rows = layout.rows, n = layout.columns;
    const Tensor lambda = sine_eigenvalues(n, 1.0) * ratio;
    const Tensor sorted = torch::cat({lambda.slice(0, 0, n, 2), lambda.slice(0, 1, n, 2)}).contiguous();
    std::vector<double> exact(pivots.size());
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < n; ++k) {
        const double diagonal = 2 + sorted.data_ptr<double>()[k] + (i == 0) + (i == rows - 1);
        exact[i * n + k] = 1 / (diagonal - (i == 0 ? 0 : exact[(i - 1) * n + k]));
      }
    std::copy(exact.begin(), exact.end(), pivots.begin());
  }

  ParityTransform<T> sine;
  std::vector<T> pivots;
};

template <class T>
auto DiffusionOperator<T>::shared_inverse(const Layout& layout, double ratio) -> std::shared_ptr<const Inverse> {
  constexpr size_t kMost = 16;
  static std::mutex mutex;
  static std::map<std::tuple<int64_t, int64_t, double>, std::shared_ptr<const Inverse>> cache;
  const std::lock_guard lock(mutex);
  if (cache.size() > kMost) cache.clear();
  auto& entry = cache[{layout.rows, layout.columns, ratio}];
  if (!entry) entry = std::make_shared<const Inverse>(layout, ratio);
  return entry;
}

namespace {

/// 1/h^2 along one axis.
double inverse_square_spacing(const Box& box, size_t axis) {
  const int64_t n = axis == 0 ? box.points.height() : box.points.width();
  return static_cast<double>(n * n) / (box.lengths[axis] * box.lengths[axis]);
}

}  // namespace

template <class T>
DiffusionOperator<T>::DiffusionOperator(const Box& box)
    : layout_(box.points),
      scale_x_(inverse_square_spacing(box, 0)),
      scale_y_(inverse_square_spacing(box, 1)),
      w_{field(), field()},
      inverse_(shared_inverse(layout_, scale_y_ / scale_x_)),
      modes_(layout_.rows * layout_.columns),
      work_(modes_.size()) {}

template <class T>
void DiffusionOperator<T>::pack(const T* from, Field& to) const {
  const int64_t n = layout_.columns;
  for (int64_t i = 0; i < layout_.rows; ++i) std::copy_n(from + i * n, n, &to[layout_.row(i)]);
}

template <class T>
void DiffusionOperator<T>::unpack(const Field& from, T* to) const {
  const int64_t n = layout_.columns;
  for (int64_t i = 0; i < layout_.rows; ++i) std::copy_n(&from[layout_.row(i)], n, to + i * n);
}

template <class T>
void DiffusionOperator<T>::set_coefficient(const T* a) {
  const int64_t rows = layout_.rows, n = layout_.columns;
  const T scale_x = static_cast<T>(scale_x_), scale_y = static_cast<T>(scale_y_), half = T(0.5);
  for (int64_t i = 0; i <= rows; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const T above = a[std::max<int64_t>(i - 1, 0) * n + j], below = a[std::min(i, rows - 1) * n + j];
      w_.x[layout_.row(i) + j] = scale_x * (i == 0 || i == rows ? 2 * above : half * (above + below));
    }
  for (int64_t i = 0; i < rows; ++i) {
    const T* line = a + i * n;
    T* w = &w_.y[layout_.row(i)];
    for (int64_t j = 1; j < n; ++j) w[j] = scale_y * half * (line[j - 1] + line[j]);
    w[0] = scale_y * 2 * line[0];
    w[n] = scale_y * 2 * line[n - 1];
  }
}

template <class T>
void DiffusionOperator<T>::coefficient_gradient(const Weights& weights, T* gradient) const {
  const int64_t rows = layout_.rows, n = layout_.columns;
  const T scale_x = static_cast<T>(scale_x_), scale_y = static_cast<T>(scale_y_);
  const auto share = [](int64_t face, int64_t last) { return face == 0 || face == last ? T(2) : T(0.5); };
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = layout_.row(i) + j;
      gradient[i * n + j] =
          scale_x * (share(i, rows) * weights.x[at] + share(i + 1, rows) * weights.x[at + layout_.stride]) +
          scale_y * (share(j, n) * weights.y[at] + share(j + 1, n) * weights.y[at + 1]);
    }
}

template <class T>
void DiffusionOperator<T>::precondition(const Field& r, Field& z) {
  const int64_t rows = layout_.rows, n = layout_.columns, origin = layout_.row(0);
  inverse_->sine.columns_to_halves(rows, {&r[origin], layout_.stride}, {modes_.data(), n}, work_.data());
  piddm::solve_tridiagonal(rows, n, inverse_->pivots.data(), modes_.data());
  inverse_->sine.halves_to_columns(rows, {modes_.data(), n}, {&z[origin], layout_.stride}, work_.data());
}

template <class T>
void DiffusionOperator<T>::apply(const Field& u, Field& out) const {
  piddm::apply(layout_, w_, u.data(), out.data());
}

template <class T>
T DiffusionOperator<T>::residual(const Field& f, const Field& u, Field& r) const {
  return piddm::residual(layout_, w_, f.data(), u.data(), r.data());
}

template <class T>
T DiffusionOperator<T>::next_direction(const Field& z, T beta, Field& p, Field& ap) const {
  return piddm::next_direction(layout_, w_, z.data(), beta, p.data(), ap.data());
}

template <class T>
T DiffusionOperator<T>::advance(T alpha, const Field& p, const Field& ap, Field& d, Field& r) const {
  return piddm::advance(layout_, alpha, p.data(), ap.data(), d.data(), r.data());
}

template <class T>
T DiffusionOperator<T>::inner_product(const Field& x, const Field& y) const {
  return piddm::inner_product(layout_, x.data(), y.data());
}

template <class T>
void DiffusionOperator<T>::add(T factor, const Field& x, Field& y) const {
  piddm::add(layout_, factor, x.data(), y.data());
}

template <class T>
void DiffusionOperator<T>::add_gradient(T factor, const Field& g, const Field& v, Weights& weights) const {
  piddm::add_gradient(layout_, factor, g.data(), v.data(), weights);
}

template class DiffusionOperator<double>;
template class DiffusionOperator<float>;

}  // namespace piddm
