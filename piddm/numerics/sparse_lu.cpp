#define EIGEN_DONT_PARALLELIZE
#include "piddm/numerics/sparse_lu.h"

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <algorithm>
#include <limits>
#include <numeric>

#include "piddm/core/error.h"

namespace piddm {
namespace {

using Vector = Eigen::VectorXd;

constexpr double kSingular = 1e15;  // condition number

}  // namespace

struct SparseLu::Factors {
  Eigen::SparseMatrix<double> matrix;
  std::vector<int64_t> slots;  // where an entry stands in the compressed matrix
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> lu;
  double condition = 0;
  bool ready = false;

  template <bool kTransposed>
  Vector solve(const Vector& b) {
    if constexpr (kTransposed)
      return lu.transpose().solve(b);
    else
      return lu.solve(b);
  }

  /// Largest ||A^-1 x||_1 with ||x||_1 = 1, estimated.
  double inverse_norm() {
    const auto n = matrix.rows();
    Vector x = Vector::Constant(n, 1 / static_cast<double>(n));
    double norm = 0;
    for (int i = 0; i < 5; ++i) {
      const Vector y = solve<false>(x);
      const double larger = y.lpNorm<1>();
      if (!(larger > norm)) return i == 0 ? larger : norm;
      norm = larger;
      const Vector z = solve<true>(y.unaryExpr([](double v) { return v < 0 ? -1.0 : 1.0; }));
      Eigen::Index most = 0;
      if (z.cwiseAbs().maxCoeff(&most) <= z.dot(x)) return norm;
      x = Vector::Unit(n, most);
    }
    return norm;
  }

  template <bool kTransposed>
  Tensor solve_rows(const Tensor& b) {
    const auto n = matrix.rows();
    require<UsageError>(ready, "[sparse lu] solve before factorise");
    require<DataError>(
        b.is_cpu() && b.scalar_type() == torch::kFloat64 && (b.dim() == 1 || b.dim() == 2) && b.size(-1) == n,
        "[sparse lu] expected right-hand sides ({}) or (k,{}) in float64, got {}", n, n, shape_string(b));
    const Tensor in = b.detach().contiguous(), out = torch::empty_like(in);
    for (int64_t first = 0; first < in.numel(); first += n)
      Eigen::Map<Vector>(out.data_ptr<double>() + first, n) =
          solve<kTransposed>(Eigen::Map<const Vector>(in.data_ptr<double>() + first, n));
    return out;
  }
};

SparseLu::SparseLu(int64_t n, const Tensor& rows, const Tensor& columns) : factors_(std::make_unique<Factors>()) {
  require<DataError>(n > 0 && n < std::numeric_limits<int>::max() && rows.dim() == 1 && rows.numel() > 0 &&
                         rows.sizes() == columns.sizes() && rows.scalar_type() == torch::kInt64 &&
                         columns.scalar_type() == torch::kInt64,
                     "[sparse lu] n = {}, rows {}, columns {}: expected int64 of one size", n, shape_string(rows),
                     shape_string(columns));
  const Tensor i = rows.contiguous(), j = columns.contiguous();
  require<DataError>(torch::minimum(i, j).min().item<int64_t>() >= 0 && torch::maximum(i, j).max().item<int64_t>() < n,
                     "[sparse lu] an entry lies outside the matrix of {} rows", n);
  const int64_t m = i.numel();
  const int64_t *row = i.data_ptr<int64_t>(), *column = j.data_ptr<int64_t>();
  std::vector<int64_t> order(m);
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](int64_t k) { return std::pair{column[k], row[k]}; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return place(a) < place(b); });
  auto& f = *factors_;
  f.slots.resize(m);
  std::vector<Eigen::Triplet<double>> entries;
  for (int64_t k = 0; k < m; ++k) {
    if (k == 0 || place(order[k]) != place(order[k - 1]))
      entries.emplace_back(static_cast<int>(row[order[k]]), static_cast<int>(column[order[k]]), 0);
    f.slots[order[k]] = static_cast<int64_t>(entries.size()) - 1;
  }
  f.matrix.resize(n, n);
  f.matrix.setFromTriplets(entries.begin(), entries.end());
  f.lu.analyzePattern(f.matrix);
}

SparseLu::SparseLu(SparseLu&&) noexcept = default;
SparseLu& SparseLu::operator=(SparseLu&&) noexcept = default;
SparseLu::~SparseLu() = default;

void SparseLu::factorise(const Tensor& values) {
  auto& f = *factors_;
  require<DataError>(values.is_cpu() && values.scalar_type() == torch::kFloat64 && values.dim() == 1 &&
                         values.size(0) == static_cast<int64_t>(f.slots.size()) && all_finite(values),
                     "[sparse lu] expected {} finite float64 entries, got {}", f.slots.size(), shape_string(values));
  f.ready = false;
  const Tensor entries = values.contiguous();
  double* stored = f.matrix.valuePtr();
  std::fill(stored, stored + f.matrix.nonZeros(), 0.0);
  for (size_t k = 0; k < f.slots.size(); ++k) stored[f.slots[k]] += entries.data_ptr<double>()[k];
  f.lu.factorize(f.matrix);
  require<NumericsError>(f.lu.info() == Eigen::Success, "[sparse lu] the matrix of {} rows is singular",
                         f.matrix.rows());
  double norm = 0;
  for (int j = 0; j < f.matrix.outerSize(); ++j) norm = std::max(norm, f.matrix.col(j).cwiseAbs().sum());
  f.condition = norm * f.inverse_norm();
  require<NumericsError>(f.condition < kSingular, "[sparse lu] the matrix of {} rows is singular: condition {:.3g}",
                         f.matrix.rows(), f.condition);
  f.ready = true;
}

Tensor SparseLu::solve(const Tensor& b) const { return factors_->solve_rows<false>(b); }
Tensor SparseLu::transposed_solve(const Tensor& b) const { return factors_->solve_rows<true>(b); }
double SparseLu::condition() const { return factors_->condition; }

}  // namespace piddm
