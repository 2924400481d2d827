#include "piddm/numerics/diffusion_cg.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "piddm/core/clones.h"
#include "piddm/core/error.h"
#include "piddm/numerics/parity_transform.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {
namespace {

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors pass between inlined functions only

constexpr int64_t kLanes = 8;
using Lanes [[gnu::vector_size(kLanes * sizeof(double))]] = double;

[[gnu::always_inline]] inline Lanes load(const double* from) {
  Lanes x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

[[gnu::always_inline]] inline void store(double* to, const Lanes& x) { std::memcpy(to, &x, sizeof x); }

[[gnu::always_inline]] inline double total(const Lanes& x) {
  return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
}

/// How a field [H,W] lies in memory: rows of whole vectors with at least one zero on every side.
struct Layout {
  explicit Layout(const GridSize& points)
      : rows(points.height()),
        columns(points.width()),
        width((columns + kLanes - 1) / kLanes * kLanes),
        stride(width + kLanes),
        size((rows + 2) * stride + kLanes) {}
  int64_t row(int64_t i) const { return (i + 1) * stride + kLanes; }
  int64_t rows, columns, width, stride, size;
};

/// w/h^2 of the faces, `x` between (i-1,j) and (i,j), `y` between (i,j-1) and (i,j).
struct Weights {
  std::vector<double> x, y;
};

[[gnu::always_inline]] inline Lanes flux_sum(const Layout& l, const Weights& w, const double* u, int64_t at) {
  const Lanes centre = load(u + at);
  return load(&w.x[at]) * (centre - load(u + at - l.stride)) +
         load(&w.x[at + l.stride]) * (centre - load(u + at + l.stride)) + load(&w.y[at]) * (centre - load(u + at - 1)) +
         load(&w.y[at + 1]) * (centre - load(u + at + 1));
}

/// p <- z + beta p, ap = A p; returns <p, ap>.
PIDDM_CLONES double next_direction(const Layout& l, const Weights& w, const double* z, double beta, double* p,
                                   double* ap) {
  Lanes sum = {};
  for (int64_t i = 0; i <= l.rows; ++i) {
    if (i < l.rows)
      for (int64_t at = l.row(i), end = at + l.width; at < end; at += kLanes)
        store(p + at, load(z + at) + beta * load(p + at));
    if (i == 0) continue;
    const int64_t begin = l.row(i - 1);
    for (int64_t at = begin; at < begin + l.width; at += kLanes) {
      const Lanes flux = flux_sum(l, w, p, at);
      sum += load(p + at) * flux;
      store(ap + at, flux);
    }
    std::fill(ap + begin + l.columns, ap + begin + l.width, 0.0);
  }
  return total(sum);
}

/// r = f - A u; returns <r, r>.
PIDDM_CLONES double true_residual(const Layout& l, const Weights& w, const double* f, const double* u, double* r) {
  Lanes sum = {};
  for (int64_t i = 0; i < l.rows; ++i) {
    const int64_t begin = l.row(i);
    for (int64_t at = begin; at < begin + l.width; at += kLanes) store(r + at, load(f + at) - flux_sum(l, w, u, at));
    std::fill(r + begin + l.columns, r + begin + l.width, 0.0);
    for (int64_t at = begin; at < begin + l.width; at += kLanes) sum += load(r + at) * load(r + at);
  }
  return total(sum);
}

/// d += alpha p, r -= alpha ap; returns <r, r>.
PIDDM_CLONES double advance(const Layout& l, double alpha, const double* p, const double* ap, double* d, double* r) {
  Lanes sum = {};
  for (int64_t at = 0; at < l.size; at += kLanes) {
    const Lanes rest = load(r + at) - alpha * load(ap + at);
    store(d + at, load(d + at) + alpha * load(p + at));
    store(r + at, rest);
    sum += rest * rest;
  }
  return total(sum);
}

PIDDM_CLONES double inner_product(const Layout& l, const double* x, const double* y) {
  Lanes sum = {};
  for (int64_t at = 0; at < l.size; at += kLanes) sum += load(x + at) * load(y + at);
  return total(sum);
}

/// Solves the n tridiagonal systems whose right-hand sides are the columns of `field` [rows,n], by their pivots'
/// inverses.
PIDDM_CLONES void solve_tridiagonal(int64_t rows, int64_t n, const double* pivots, double* field) {
  for (int64_t k = 0; k < n; ++k) field[k] *= pivots[k];
  for (int64_t i = 1; i < rows; ++i) {
    const double *pivot = pivots + i * n, *before = field + (i - 1) * n;
    double* row = field + i * n;
    for (int64_t k = 0; k < n; ++k) row[k] = pivot[k] * (row[k] + before[k]);
  }
  for (int64_t i = rows - 2; i >= 0; --i) {
    const double *pivot = pivots + i * n, *after = field + (i + 1) * n;
    double* row = field + i * n;
    for (int64_t k = 0; k < n; ++k) row[k] += pivot[k] * after[k];
  }
}

/// h_H^2 A for a = 1, inverted.
class Preconditioner {
 public:
  /// `ratio` is (h_H/h_W)^2.
  Preconditioner(const Layout& layout, double ratio)
      : layout_(layout),
        sine_(sine_matrix(layout.columns)),
        pivots_(layout.rows * layout.columns),
        modes_(pivots_.size()),
        work_(pivots_.size()) {
    const int64_t rows = layout.rows, n = layout.columns;
    const Tensor lambda = sine_eigenvalues(n, 1.0) * ratio;
    const Tensor sorted = torch::cat({lambda.slice(0, 0, n, 2), lambda.slice(0, 1, n, 2)}).contiguous();
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < n; ++k) {
        const double diagonal = 2 + sorted.data_ptr<double>()[k] + (i == 0) + (i == rows - 1);
        pivots_[i * n + k] = 1 / (diagonal - (i == 0 ? 0 : pivots_[(i - 1) * n + k]));
      }
  }

  void apply(const double* r, double* z) {
    const int64_t rows = layout_.rows, n = layout_.columns, origin = layout_.row(0);
    sine_.columns_to_halves(rows, {r + origin, layout_.stride}, {modes_.data(), n}, work_.data());
    solve_tridiagonal(rows, n, pivots_.data(), modes_.data());
    sine_.halves_to_columns(rows, {modes_.data(), n}, {z + origin, layout_.stride}, work_.data());
  }

 private:
  Layout layout_;
  ParityTransform<double> sine_;
  std::vector<double> pivots_, modes_, work_;
};

/// 1/h^2 along one axis.
double inverse_square_spacing(const Box& box, size_t axis) {
  const int64_t n = axis == 0 ? box.points.height() : box.points.width();
  return static_cast<double>(n * n) / (box.lengths[axis] * box.lengths[axis]);
}

/// The solver of one thread: everything it needs for one sample after the other.
class Solver {
 public:
  Solver(const Box& box, const CgOptions& options)
      : layout_(box.points),
        scale_x_(inverse_square_spacing(box, 0)),
        scale_y_(inverse_square_spacing(box, 1)),
        options_(options),
        preconditioner_(layout_, scale_y_ / scale_x_),
        w_{field(), field()} {}

  /// `u` holds the first guess and receives the solution.
  void solve(const double* a, const double* f, double* u, int64_t* iterations, double* error) {
    set_weights(a);
    pack(f, f_);
    pack(u, u_);
    scale_ = std::sqrt(inner_product(layout_, f_.data(), f_.data()));
    if (scale_ == 0) scale_ = 1;
    iterations_ = 0;
    *error = distance(u_);
    for (bool again = *error > options_.tolerance; again;) {
      run();
      for (int64_t at = 0; at < layout_.size; ++at) d_[at] += u_[at];
      const double candidate = distance(d_);
      again = candidate > options_.tolerance && candidate < 0.5 * *error && iterations_ < options_.max_iterations;
      if (!(candidate < *error)) continue;
      std::swap(u_, d_);
      *error = candidate;
    }
    const int64_t n = layout_.columns;
    for (int64_t i = 0; i < layout_.rows; ++i) std::copy_n(&u_[layout_.row(i)], n, u + i * n);
    *iterations = iterations_;
  }

 private:
  std::vector<double> field() const { return std::vector<double>(layout_.size); }

  void pack(const double* from, std::vector<double>& to) const {
    const int64_t n = layout_.columns;
    for (int64_t i = 0; i < layout_.rows; ++i) std::copy_n(from + i * n, n, &to[layout_.row(i)]);
  }

  void set_weights(const double* a) {
    const int64_t rows = layout_.rows, n = layout_.columns;
    for (int64_t i = 0; i <= rows; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const double above = a[std::max<int64_t>(i - 1, 0) * n + j], below = a[std::min(i, rows - 1) * n + j];
        w_.x[layout_.row(i) + j] = scale_x_ * (i == 0 || i == rows ? 2 * above : 0.5 * (above + below));
      }
    const double scale = scale_y_;
    for (int64_t i = 0; i < rows; ++i) {
      const double* line = a + i * n;
      double* w = &w_.y[layout_.row(i)];
      for (int64_t j = 1; j < n; ++j) w[j] = scale * 0.5 * (line[j - 1] + line[j]);
      w[0] = scale * 2 * line[0];
      w[n] = scale * 2 * line[n - 1];
    }
  }

  /// ||f - A u|| / ||f||; leaves f - A u in r_.
  double distance(const std::vector<double>& u) {
    return std::sqrt(true_residual(layout_, w_, f_.data(), u.data(), r_.data())) / scale_;
  }

  /// Conjugate gradients on A d = r from d = 0.
  void run() {
    std::fill(d_.begin(), d_.end(), 0.0);
    std::fill(p_.begin(), p_.end(), 0.0);
    const double target = 0.25 * options_.tolerance * scale_;
    double best = std::numeric_limits<double>::infinity(), beta = 0;
    preconditioner_.apply(r_.data(), z_.data());
    double rz = inner_product(layout_, r_.data(), z_.data());
    for (int64_t waited = 0; iterations_ < options_.max_iterations;) {
      const double curvature = next_direction(layout_, w_, z_.data(), beta, p_.data(), ap_.data());
      if (!(curvature > 0)) return;
      ++iterations_;
      const double size = std::sqrt(advance(layout_, rz / curvature, p_.data(), ap_.data(), d_.data(), r_.data()));
      waited = size < best ? 0 : waited + 1;
      best = std::min(best, size);
      if (!(size > target) || waited >= options_.patience) return;
      preconditioner_.apply(r_.data(), z_.data());
      const double next = inner_product(layout_, r_.data(), z_.data());
      beta = next / rz;
      rz = next;
    }
  }

  Layout layout_;
  double scale_x_, scale_y_;  // 1/h^2 along H and along W
  CgOptions options_;
  Preconditioner preconditioner_;
  Weights w_;
  std::vector<double> f_ = field(), u_ = field(), d_ = field(), r_ = field(), z_ = field(), p_ = field(), ap_ = field();
  double scale_ = 1;
  int64_t iterations_ = 0;
};

}  // namespace

CgResult solve_diffusion(const Tensor& a, const Tensor& f, const Tensor& start, const CgOptions& options,
                         const Lengths& lengths) {
  const bool fits =
      a.dim() == 4 && a.size(1) == 1 && f.sizes() == a.sizes() && (!start.defined() || start.sizes() == a.sizes());
  require<DataError>(fits, "[diffusion] coefficient {}, right-hand side {} and start {} do not fit", shape_string(a),
                     shape_string(f), shape_string(start));
  const torch::NoGradGuard no_grad;
  const Tensor a_dense = a.contiguous(), f_dense = f.contiguous();
  const int64_t count = a.size(0), points = a.size(2) * a.size(3);
  const CgResult result{start.defined() ? start.clone(torch::MemoryFormat::Contiguous) : torch::zeros_like(f_dense),
                        torch::zeros({count}, torch::kInt64), torch::zeros({count}, torch::kFloat64)};
  at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
    Solver solver({GridSize(a.size(2), a.size(3)), lengths}, options);
    for (int64_t i = begin; i < end; ++i) {
      const auto sample = [&](const Tensor& t) { return t.data_ptr<double>() + i * points; };
      solver.solve(sample(a_dense), sample(f_dense), sample(result.x), result.iterations.data_ptr<int64_t>() + i,
                   result.relative_residual.data_ptr<double>() + i);
    }
  });
  require_converged(result, options);
  return result;
}

}  // namespace piddm
