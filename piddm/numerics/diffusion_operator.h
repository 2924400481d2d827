#pragma once
// The five-point operator of diffusion_cg.h for one sample on one thread, float32 or float64: A itself, the passes of
// conjugate gradients over fields, the preconditioner, and the gradient with respect to the coefficient. Plain memory,
// fused passes, an order of summation that depends on the grid alone.

#include <memory>
#include <vector>

#include "piddm/numerics/box.h"

namespace piddm {

template <class T>
class DiffusionOperator {
 public:
  using Field = std::vector<T>;  ///< rows of whole vectors with at least one zero on every side

  /// How a field [H,W] lies in memory.
  struct Layout {
    explicit Layout(const GridSize& points);
    int64_t row(int64_t i) const { return (i + 1) * stride + kLanes; }
    static constexpr int64_t kLanes = 64 / sizeof(T);
    int64_t rows, columns, width, stride, size;
  };

  /// w/h^2 of the faces, `x` between (i-1,j) and (i,j), `y` between (i,j-1) and (i,j).
  struct Weights {
    Field x, y;
  };

  explicit DiffusionOperator(const Box& box);

  Field field() const { return Field(layout_.size); }  ///< of zeros
  void pack(const T* from, Field& to) const;           ///< from [H,W]
  void unpack(const Field& from, T* to) const;

  /// A of this a = [H,W].
  void set_coefficient(const T* a);

  /// out = A u.
  void apply(const Field& u, Field& out) const;
  /// r = f - A u; returns <r, r>.
  T residual(const Field& f, const Field& u, Field& r) const;
  /// p <- z + beta p, ap = A p; returns <p, ap>.
  T next_direction(const Field& z, T beta, Field& p, Field& ap) const;
  /// d += alpha p, r -= alpha ap; returns <r, r>.
  T advance(T alpha, const Field& p, const Field& ap, Field& d, Field& r) const;
  T inner_product(const Field& x, const Field& y) const;
  /// y += factor x.
  void add(T factor, const Field& x, Field& y) const;

  /// z = (h_H^2 A for a = 1)^-1 r, exactly: a sine transform along W, tridiagonal systems along H.
  void precondition(const Field& r, Field& z);

  /// weights += factor times the gradient of <g, A v> with respect to w/h^2 of the faces.
  void add_gradient(T factor, const Field& g, const Field& v, Weights& weights) const;
  /// The gradient with respect to a = [H,W], of that with respect to the weights.
  void coefficient_gradient(const Weights& weights, T* gradient) const;

 private:
  struct Inverse;  // tables of the preconditioner, shared by all operators of a box
  static std::shared_ptr<const Inverse> shared_inverse(const Layout& layout, double ratio);

  Layout layout_;
  double scale_x_, scale_y_;  // 1/h^2 along H and along W
  Weights w_;
  std::shared_ptr<const Inverse> inverse_;
  std::vector<T> modes_, work_;
};

extern template class DiffusionOperator<double>;
extern template class DiffusionOperator<float>;

}  // namespace piddm
