#pragma once
// What the four problems with a closed-form solution share: one space dimension and time, H = x, W = t, channels u and
// one scalar coefficient s drawn uniformly.
//
//   t_n = T n/(W-1);  x_i = L i/(H-1), both ends stored, or x_i = L i/H for a field that is periodic in x
//
// Scored points: t indices 1..W-2 and, where x is not periodic, x indices 1..H-2. The reference term is u_t there.
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
  /// x in [0, L] of nodes, L the parameter length_x (1); t in [0, T], T the parameter `duration` with this default.
  ClosedForm(PdeOptions options, UniformScalar scalar, double duration = 1);

  /// x periodic with this period.
  ClosedForm(PdeOptions options, UniformScalar scalar, std::optional<double> period, double duration);

  /// u for s = [B,1,1,1]: [B,1,H,W] float64 on the device of s.
  virtual Tensor field(const Tensor& s) const = 0;

  /// The residual of u = [B,1,H,W] for s = [B,1,1,1]; residual() adds the reference term u_t.
  virtual Residual equation(const Tensor& u, const Tensor& s) const = 0;

  /// u_t and f_xx at the scored points.
  Tensor time_derivative(const Tensor& u) const;
  Tensor second_derivative(const Tensor& f) const;

  /// Coordinates [H,1] and [W], as `like` has them (dtype, device).
  Tensor x(const Tensor& like) const { return x_.to(like.device(), like.scalar_type()); }
  Tensor t(const Tensor& like) const { return t_.to(like.device(), like.scalar_type()); }
  const Tensor& x() const { return x_; }
  const Tensor& t() const { return t_; }
  double dx() const { return dx_; }
  double dt() const { return dt_; }
  double length_x() const { return x_axis_.length; }
  double duration() const { return t_axis_.length; }

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
