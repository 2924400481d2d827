#include "piddm/numerics/diffusion_cg.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/numerics/diffusion_operator.h"

namespace piddm {
namespace {

/// The solver of one thread: everything it needs for one sample after the other.
class Solver {
 public:
  Solver(const Box& box, const CgOptions& options) : op_(box), options_(options) {}

  /// `u` holds the first guess and receives the solution.
  void solve(const double* a, const double* f, double* u, int64_t* iterations, double* error) {
    op_.set_coefficient(a);
    op_.pack(f, f_);
    op_.pack(u, u_);
    scale_ = std::sqrt(op_.inner_product(f_, f_));
    if (scale_ == 0) scale_ = 1;
    iterations_ = 0;
    *error = distance(u_);
    for (bool again = *error > options_.tolerance; again;) {
      run();
      for (size_t at = 0; at < d_.size(); ++at) d_[at] += u_[at];
      const double candidate = distance(d_);
      again = candidate > options_.tolerance && candidate < 0.5 * *error && iterations_ < options_.max_iterations;
      if (!(candidate < *error)) continue;
      std::swap(u_, d_);
      *error = candidate;
    }
    op_.unpack(u_, u);
    *iterations = iterations_;
  }

 private:
  /// ||f - A u|| / ||f||; leaves f - A u in r_.
  double distance(const std::vector<double>& u) { return std::sqrt(op_.residual(f_, u, r_)) / scale_; }

  /// Conjugate gradients on A d = r from d = 0.
  void run() {
    std::fill(d_.begin(), d_.end(), 0.0);
    std::fill(p_.begin(), p_.end(), 0.0);
    const double target = 0.25 * options_.tolerance * scale_;
    double best = std::numeric_limits<double>::infinity(), beta = 0;
    op_.precondition(r_, z_);
    double rz = op_.inner_product(r_, z_);
    for (int64_t waited = 0; iterations_ < options_.max_iterations;) {
      const double curvature = op_.next_direction(z_, beta, p_, ap_);
      if (!(curvature > 0)) return;
      ++iterations_;
      const double size = std::sqrt(op_.advance(rz / curvature, p_, ap_, d_, r_));
      waited = size < best ? 0 : waited + 1;
      best = std::min(best, size);
      if (!(size > target) || waited >= options_.patience) return;
      op_.precondition(r_, z_);
      const double next = op_.inner_product(r_, z_);
      beta = next / rz;
      rz = next;
    }
  }

  DiffusionOperator<double> op_;
  CgOptions options_;
  std::vector<double> f_ = op_.field(), u_ = op_.field(), d_ = op_.field(), r_ = op_.field(), z_ = op_.field(),
                      p_ = op_.field(), ap_ = op_.field();
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
