#pragma once
// What the four problems with a closed-form solution share: one space dimension and time, H = x, W = t, channels u and
// one scalar coefficient s drawn uniformly.
//
//   t_n = T n/(N-1);  x_i = L i/(N-1), both ends stored, or x_i = L i/N for a field that is periodic in x
//
// Scored points: t indices 1..N-2 and, where x is not periodic, x indices 1..N-2. The reference term is u_t there.
// solve() is the closed form itself: on the CPU sample by sample, so that no bit depends on the batch or the threads.

#include <string>

#include "piddm/pde/constraint.h"
#include "piddm/pde/pde.h"

namespace piddm {

/// The scalar coefficient: uniform on (low, high), a decode takes any value in `valid`.
struct UniformScalar {
  std::string name;
  double low = 0, high = 1;
  std::optional<std::pair<double, double>> valid = {};
};

class ClosedForm : public Pde {
 public:
  const std::vector<Channel>& channels() const override { return channels_; }
  GridAxes axes() const override { return {x_axis_, t_axis_}; }
  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override;

  /// A DataError for a scalar (the channel's spatial mean) outside its valid range. `start` is not needed; the report
  /// says 0.
  Tensor solve(const Tensor& coefficients, const Tensor& start = {}, SolveReport* report = nullptr) const override;

  Residual residual(const Tensor& x) const override;
  Tensor constrain(const Tensor& x) const override;

 protected:
  /// x in [0, L], of nodes or periodic; t in [0, T].
  ClosedForm(PdeOptions options, UniformScalar scalar, GridAxis x = {.name = "x"}, double duration = 1);

  /// u for s = [B,1,1,1]: [B,1,N,N] float64 on the device of s.
  virtual Tensor field(const Tensor& s) const = 0;

  /// The residual of u = [B,1,N,N] for s = [B,1,1,1]; residual() adds the reference term u_t.
  virtual Residual equation(const Tensor& u, const Tensor& s) const = 0;

  /// u_t and f_xx at the scored points.
  Tensor time_derivative(const Tensor& u) const;
  Tensor second_derivative(const Tensor& f) const;

  /// Coordinates [N,1] and [N], as `like` has them (dtype, device).
  Tensor x(const Tensor& like) const { return x_.to(like.device(), like.scalar_type()); }
  Tensor t(const Tensor& like) const { return t_.to(like.device(), like.scalar_type()); }
  const Tensor& x() const { return x_; }
  const Tensor& t() const { return t_; }
  double dx() const { return dx_; }
  double dt() const { return dt_; }

  void set_constraint(ConstraintPtr constraint) { constraint_ = std::move(constraint); }

 private:
  Tensor solve_one(const Tensor& coefficients) const;
  bool periodic() const { return x_axis_.kind == AxisKind::periodic; }

  UniformScalar scalar_;
  GridAxis x_axis_, t_axis_;
  std::vector<Channel> channels_;
  double dx_, dt_;
  Tensor x_, t_;
  ConstraintPtr constraint_;
};

}  // namespace piddm
