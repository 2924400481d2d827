// A few iterations of conjugate gradients, and backwards through them:
//
//   z_i = M r_i,  rho_i = <r_i,z_i>,  p_i = z_i + (rho_i/rho_{i-1}) p_{i-1},  q_i = A p_i,  alpha_i = rho_i/<p_i,q_i>
//   u_{i+1} = u_i + alpha_i p_i,  r_{i+1} = r_i - alpha_i q_i
//
// A and M are symmetric; the gradient of <g, A v> with respect to a face's weight is (g_P - g_N)(v_P - v_N). The
// composed form is DarcyOperator::correct (pde/darcy.h).

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/numerics/diffusion_cg.h"
#include "piddm/numerics/diffusion_operator.h"

namespace piddm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// x/y, and 0 where y = 0: nothing is left to correct.
template <class T>
T guarded_ratio(T x, T y) {
  return y == 0 ? T(0) : x / y;
}

/// The work of one thread: one sample after the other.
template <class T>
class Corrector {
 public:
  using Field = typename DiffusionOperator<T>::Field;

  /// `keep`: directions are kept for backward().
  Corrector(const Box& box, int64_t iterations, bool keep)
      : op_(box), keep_(keep), steps_(iterations), p_(keep ? iterations : 1, op_.field()), ap_(p_) {}

  void forward(const T* a, const T* f, const T* u, T* out) {
    run(a, f, u);
    op_.unpack(u_, out);
  }

  struct Gradients {
    T *a, *f, *u;
  };

  /// `gradient` with respect to the result, turned into those with respect to a, f and u.
  void backward(const T* a, const T* f, const T* u, const T* gradient, const Gradients& out) {
    run(a, f, u);
    op_.pack(gradient, g_u_);
    for (Field* field : {&g_r_, &g_p_, &weights_.x, &weights_.y}) std::fill(field->begin(), field->end(), T(0));
    T g_rho = 0;
    for (auto i = static_cast<int64_t>(steps_.size()) - 1; i >= 0; --i) g_rho = step_back(i, g_rho);
    op_.pack(u, u_);
    op_.add_gradient(-1, g_r_, u_, weights_);
    op_.apply(g_r_, g_q_);
    op_.add(-1, g_q_, g_u_);
    op_.coefficient_gradient(weights_, out.a);
    op_.unpack(g_r_, out.f);
    op_.unpack(g_u_, out.u);
  }

 private:
  struct Step {
    T alpha = 0, beta = 0, rho = 0, curvature = 0;
  };

  /// Leaves the result in u_, the last residual in r_.
  void run(const T* a, const T* f, const T* u) {
    op_.set_coefficient(a);
    op_.pack(f, z_);
    op_.pack(u, u_);
    op_.residual(z_, u_, r_);
    std::fill(p_[0].begin(), p_[0].end(), T(0));
    for (size_t i = 0; i < steps_.size(); ++i) {
      op_.precondition(r_, z_);
      auto& [alpha, beta, rho, curvature] = steps_[i];
      rho = op_.inner_product(r_, z_);
      beta = i == 0 ? T(0) : guarded_ratio(rho, steps_[i - 1].rho);
      Field &p = p_[keep_ ? i : 0], &ap = ap_[keep_ ? i : 0];
      if (keep_ && i > 0) p = p_[i - 1];
      curvature = op_.next_direction(z_, beta, p, ap);
      alpha = guarded_ratio(rho, curvature);
      op_.advance(alpha, p, ap, u_, r_);
    }
  }

  /// From step i's results to what went into it. On entry g_r_ and g_p_ are the gradients with respect to r_{i+1} and
  /// p_i, r_ is r_{i+1}, `g_rho` the gradient with respect to rho_i by way of step i + 1; returns that of rho_{i-1}.
  T step_back(int64_t i, T g_rho) {
    const auto& [alpha, beta, rho, curvature] = steps_[i];
    const Field &p = p_[i], &ap = ap_[i];
    const T g_alpha = op_.inner_product(g_u_, p) - op_.inner_product(g_r_, ap);
    g_rho += guarded_ratio(g_alpha, curvature);
    const T g_curvature = -alpha * guarded_ratio(g_alpha, curvature);
    std::fill(g_q_.begin(), g_q_.end(), T(0));
    op_.add(-alpha, g_r_, g_q_);
    op_.add(g_curvature, p, g_q_);
    op_.add(alpha, g_u_, g_p_);
    op_.add(g_curvature, ap, g_p_);
    op_.apply(g_q_, z_);
    op_.add(1, z_, g_p_);
    op_.add_gradient(1, g_q_, p, weights_);
    op_.add(alpha, ap, r_);
    T g_before = 0;
    if (i > 0) {
      const T g_beta = guarded_ratio(op_.inner_product(g_p_, p_[i - 1]), steps_[i - 1].rho);
      g_rho += g_beta;
      g_before = -beta * g_beta;
    }
    g_q_ = g_p_;  // now the gradient with respect to z_i
    op_.add(g_rho, r_, g_q_);
    op_.precondition(g_q_, z_);
    op_.add(1, z_, g_r_);
    op_.add(g_rho, p, g_r_);
    if (i > 0) op_.add(-g_rho * beta, p_[i - 1], g_r_);
    for (T& x : g_p_) x *= beta;
    return g_before;
  }

  DiffusionOperator<T> op_;
  bool keep_;
  std::vector<Step> steps_;
  std::vector<Field> p_, ap_;
  Field u_ = op_.field(), r_ = op_.field(), z_ = op_.field();
  Field g_u_ = op_.field(), g_r_ = op_.field(), g_p_ = op_.field(), g_q_ = op_.field();
  typename DiffusionOperator<T>::Weights weights_{op_.field(), op_.field()};
};

/// work(corrector, offset of the sample) for each sample of x, shared among the threads.
template <class T, class Work>
void for_samples(const Tensor& x, const Lengths& lengths, int64_t iterations, bool keep, const Work& work) {
  const int64_t points = x.size(2) * x.size(3);
  at::parallel_for(0, x.size(0), 1, [&](int64_t begin, int64_t end) {
    Corrector<T> corrector({GridSize(x.size(2), x.size(3)), lengths}, iterations, keep);
    for (int64_t i = begin; i < end; ++i) work(corrector, i * points);
  });
}

template <class T>
Tensor corrected(const Tensor& a, const Tensor& f, const Tensor& u, int64_t iterations, const Lengths& lengths) {
  const Tensor out = torch::empty_like(u);
  for_samples<T>(u, lengths, iterations, false, [&](Corrector<T>& corrector, int64_t at) {
    corrector.forward(a.data_ptr<T>() + at, f.data_ptr<T>() + at, u.data_ptr<T>() + at, out.data_ptr<T>() + at);
  });
  return out;
}

template <class T>
variable_list gradients(const variable_list& saved, const Tensor& g, int64_t iterations, const Lengths& lengths) {
  const variable_list out{torch::empty_like(g), torch::empty_like(g), torch::empty_like(g)};
  for_samples<T>(g, lengths, iterations, true, [&](Corrector<T>& corrector, int64_t at) {
    const auto of = [at](const Tensor& t) { return t.data_ptr<T>() + at; };
    corrector.backward(of(saved[0]), of(saved[1]), of(saved[2]), of(g), {of(out[0]), of(out[1]), of(out[2])});
  });
  return out;
}

struct Correction : torch::autograd::Function<Correction> {
  static Tensor forward(AutogradContext* context, const Tensor& a, const Tensor& f, const Tensor& u, int64_t iterations,
                        double length_x, double length_y) {
    const Tensor a_dense = a.contiguous(), f_dense = f.contiguous(), u_dense = u.contiguous();
    context->save_for_backward({a_dense, f_dense, u_dense});
    context->saved_data["iterations"] = iterations;
    context->saved_data["length_x"] = length_x;
    context->saved_data["length_y"] = length_y;
    const Lengths lengths{length_x, length_y};
    return u.scalar_type() == torch::kFloat64 ? corrected<double>(a_dense, f_dense, u_dense, iterations, lengths)
                                              : corrected<float>(a_dense, f_dense, u_dense, iterations, lengths);
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    require<UsageError>(!torch::GradMode::is_enabled(), "[corrector] the kernel has first derivatives only");
    const auto saved = context->get_saved_variables();
    const auto& kept = context->saved_data;
    const int64_t iterations = kept.at("iterations").toInt();
    const Lengths lengths{kept.at("length_x").toDouble(), kept.at("length_y").toDouble()};
    const Tensor g = grads[0].contiguous();
    auto out = g.scalar_type() == torch::kFloat64 ? gradients<double>(saved, g, iterations, lengths)
                                                  : gradients<float>(saved, g, iterations, lengths);
    out.resize(6);  // iterations, lengths
    return out;
  }
};

}  // namespace

Tensor correct_diffusion(const Tensor& a, const Tensor& f, const Tensor& u, int64_t iterations,
                         const Lengths& lengths) {
  const auto dtype = u.scalar_type();
  require<DataError>(u.dim() == 4 && u.size(1) == 1 && a.sizes() == u.sizes() && f.sizes() == u.sizes(),
                     "[corrector] coefficient {}, right-hand side {} and solution {} do not fit", shape_string(a),
                     shape_string(f), shape_string(u));
  require<DataError>(u.is_cpu() && (dtype == torch::kFloat32 || dtype == torch::kFloat64) && a.scalar_type() == dtype &&
                         f.scalar_type() == dtype,
                     "[corrector] needs fields of one type, float32 or float64, on the CPU");
  return iterations == 0 ? u : Correction::apply(a, f, u, iterations, lengths[0], lengths[1]);
}

}  // namespace piddm
