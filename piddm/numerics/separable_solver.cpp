#define EIGEN_DONT_PARALLELIZE
#include "piddm/numerics/separable_solver.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "piddm/core/error.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr double kZero = 1e-12;     // of the largest: an eigenvalue, or a sum of them, that is zero
constexpr double kAccuracy = 1e-8;  // of a matrix made again from its eigenvectors

Matrix to_matrix(const Tensor& x) {
  const Tensor dense = x.contiguous();
  return Eigen::Map<const Matrix>(dense.data_ptr<double>(), x.size(0), x.size(1));
}

Tensor to_tensor(const Matrix& m) {
  const Tensor out = torch::empty({m.rows(), m.cols()}, torch::kFloat64);
  Eigen::Map<Matrix>(out.data_ptr<double>(), m.rows(), m.cols()) = m;
  return out;
}

/// d > 0 with d_i^-1 a_ij d_j symmetric, by walking along the entries of the matrix; empty where there is none.
Vector symmetrising_scale(const Matrix& a) {
  const auto n = a.rows();
  Vector d = Vector::Zero(n);
  for (Eigen::Index root = 0; root < n; ++root) {
    if (d[root] != 0) continue;
    d[root] = 1;
    std::vector<Eigen::Index> open = {root};
    while (!open.empty()) {
      const auto i = open.back();
      open.pop_back();
      for (Eigen::Index j = 0; j < n; ++j) {
        if (j == i || (a(i, j) == 0 && a(j, i) == 0)) continue;
        if (!(a(i, j) * a(j, i) > 0)) return {};
        if (d[j] != 0) continue;
        d[j] = d[i] * std::sqrt(a(j, i) / a(i, j));
        open.push_back(j);
      }
    }
  }
  const Matrix scaled = d.cwiseInverse().asDiagonal() * a * d.asDiagonal();
  const bool symmetric = (scaled - scaled.transpose()).cwiseAbs().maxCoeff() <= kZero * scaled.cwiseAbs().maxCoeff();
  return symmetric ? d : Vector();
}

struct Eigenbasis {
  Vector values;
  Matrix vectors, inverse;
};

Eigenbasis symmetric_eigenbasis(const Matrix& a, const Vector& d) {
  const Matrix scaled = d.cwiseInverse().asDiagonal() * a * d.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver((scaled + scaled.transpose()) / 2);
  require<NumericsError>(solver.info() == Eigen::Success, "[separable solver] the eigenvalues do not converge");
  const Eigen::MatrixXd& q = solver.eigenvectors();
  return {solver.eigenvalues(), d.asDiagonal() * q, q.transpose() * d.cwiseInverse().asDiagonal()};
}

Eigenbasis general_eigenbasis(const Matrix& a) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(a);
  require<NumericsError>(solver.info() == Eigen::Success, "[separable solver] the eigenvalues do not converge");
  const double largest = solver.eigenvalues().cwiseAbs().maxCoeff();
  const double imaginary = solver.eigenvalues().imag().cwiseAbs().maxCoeff();
  require<NumericsError>(imaginary <= kAccuracy * largest,
                         "[separable solver] an eigenvalue has the imaginary part {:.3g}, the largest is {:.3g}",
                         imaginary, largest);
  const Vector values = solver.eigenvalues().real();
  const Eigen::MatrixXd vectors = solver.pseudoEigenvectors();
  std::vector<Eigen::Index> order(a.rows());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return values[i] < values[j]; });
  Eigenbasis basis{Vector(a.rows()), Matrix(a.rows(), a.rows()), {}};
  for (Eigen::Index k = 0; k < a.rows(); ++k) {
    basis.values[k] = values[order[k]];
    basis.vectors.col(k) = vectors.col(order[k]).normalized();
  }
  basis.inverse = basis.vectors.partialPivLu().inverse();
  return basis;
}

Eigenbasis eigenbasis(const Matrix& a) {
  const Vector d = symmetrising_scale(a);
  Eigenbasis basis = d.size() > 0 ? symmetric_eigenbasis(a, d) : general_eigenbasis(a);
  const double size = a.cwiseAbs().maxCoeff();
  const double error = (basis.vectors * basis.values.asDiagonal() * basis.inverse - a).cwiseAbs().maxCoeff();
  require<NumericsError>(error <= kAccuracy * size,
                         "[separable solver] a matrix of size {:.3g} has no sound eigenvectors: they miss it by {:.3g}",
                         size, error);
  const double largest = basis.values.cwiseAbs().maxCoeff();
  basis.values = basis.values.unaryExpr([&](double value) { return std::abs(value) <= kZero * largest ? 0 : value; });
  return basis;
}

}  // namespace

Tensor PerSample::on(torch::Device device) const {
  require<DataError>(value_.dim() <= 1, "[separable solver] expected one number a sample, got {}",
                     shape_string(value_));
  return value_.to(device, torch::kFloat64).reshape({-1, 1, 1, 1});
}

SeparableSolver::Axis SeparableSolver::diagonalise(const Tensor& a) {
  require<DataError>(a.dim() == 2 && a.size(0) == a.size(1) && a.size(0) > 0 && all_finite(a),
                     "[separable solver] expected a square matrix of finite numbers, got {}", shape_string(a));
  const Eigenbasis basis = eigenbasis(to_matrix(a.to(torch::kCPU, torch::kFloat64)));
  return {to_tensor(basis.values).flatten(), to_tensor(basis.vectors), to_tensor(basis.inverse)};
}

SeparableSolver::Factors SeparableSolver::factors(const Axis& axis, torch::ScalarType dtype, torch::Device device) {
  const Tensor vectors = axis.vectors.to(device, dtype), inverse = axis.inverse.to(device, dtype);
  return {axis.values.to(device), vectors, inverse, vectors.t().contiguous(), inverse.t().contiguous()};
}

SeparableSolver::SeparableSolver(const Tensor& ax, const Tensor& ay, torch::ScalarType dtype, torch::Device device) {
  const torch::NoGradGuard no_grad;
  const c10::InferenceMode normal_tensors(false);
  x_axis_ = diagonalise(ax);
  y_axis_ = diagonalise(ay);
  *this = to(dtype, device);
}

SeparableSolver SeparableSolver::to(torch::ScalarType dtype, torch::Device device) const {
  SeparableSolver out;
  out.x_axis_ = x_axis_;
  out.y_axis_ = y_axis_;
  out.x_ = factors(x_axis_, dtype, device);
  out.y_ = factors(y_axis_, dtype, device);
  return out;
}

Tensor SeparableSolver::inverse_eigenvalues(const PerSample& c0, const PerSample& kx, const PerSample& ky) const {
  const auto device = x_.values.device();
  const Tensor shift = c0.on(device), along_x = kx.on(device) * x_.values.unsqueeze(1);
  const Tensor along_y = ky.on(device) * y_.values, sum = shift + along_x + along_y;
  const Tensor kept = sum.abs() > kZero * (shift.abs() + along_x.abs() + along_y.abs());
  return torch::where(kept, torch::where(kept, sum, torch::ones_like(sum)).reciprocal(), torch::zeros_like(sum))
      .to(x_.vectors.scalar_type());
}

Tensor SeparableSolver::solve(const Tensor& f, const Tensor& inverse) const {
  return apply_both_axes(x_.vectors, apply_both_axes(x_.inverse, f, y_.inverse_t) * inverse, y_.vectors_t);
}

Tensor SeparableSolver::transposed_solve(const Tensor& f, const Tensor& inverse) const {
  return apply_both_axes(x_.inverse_t, apply_both_axes(x_.vectors_t, f, y_.vectors) * inverse, y_.inverse);
}

}  // namespace piddm
