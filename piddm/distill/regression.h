#pragma once
// Distillation by regression under the PDE residual of the student's own final sample (Algorithm 1 of the paper).
//
//   L = ||d(e) - x_0||^2 + lambda ||R(d(e))||^2 + boundary ||B(d(e))||^2      means over entries; R in the unit of the PDE, B (boundary and
//                                                                             initial conditions) in standard deviations of the solution
//
// With huber = c > 0 the square d^2 of an entry becomes 2 c (sqrt(d^2 + c^2) - c): d^2 for small d, 2 c |d| for large. Squares make the student a
// conditional mean, which blurs a two-valued coefficient; large errors counted linearly keep it sharp.
// solution_weight > 1 gives the solution channels more of the sample term (the weights have mean 1): their errors are small beside those at the edges of
// a coefficient, and left to itself the physics term would rather shrink u than leave a residual.
//
// freeze_coefficients keeps the physics terms from choosing coefficients for which the equation is easier: the law of the coefficients then comes
// from the teacher alone. Where u = 0 solves the equation (Heat, Stokes) u shrinks instead, so it is off by default.
//
// lambda and boundary rise linearly from 0 between `physics_from` and `physics_from + physics_ramp`: switched on before the student tracks the teacher,
// trivial fields of low residual win.

#include <optional>

#include "piddm/distill/pairs.h"
#include "piddm/model/student.h"
#include "piddm/train/batches.h"
#include "piddm/train/trainer.h"

namespace piddm {

/// What decides early stopping on the held-out pairs: the whole loss, or ||d(e) - x_0||^2 alone as in the paper.
enum class StopOn { total, sample };
inline std::vector<std::string> enum_names(StopOn) { return {"total", "sample"}; }

struct RegressionOptions {
  double lambda = 10;
  double boundary = 0;
  bool freeze_coefficients = false;
  double huber = 0;
  double solution_weight = 1;
  int64_t physics_from = 0;
  int64_t physics_ramp = 200;
  StopOn stop_on = StopOn::total;

  template <class V>
  void fields(V&& f) {
    f("lambda", lambda, "weight of the physics term; 0: pure distillation");
    f("boundary", boundary,
      "weight of the boundary and initial conditions, where the PDE has them apart from its stencil");
    f("freeze_coefficients", freeze_coefficients,
      "no gradient of the physics terms in the coefficients: only u is moved");
    f("huber", huber, "error beyond which the sample term grows linearly; 0: squares throughout");
    f("solution_weight", solution_weight, "weight of a solution channel in the sample term; a coefficient's is 1");
    f("physics_from", physics_from, "step at which the physics term sets in");
    f("physics_ramp", physics_ramp, "steps over which it rises to lambda");
    f("stop_on", stop_on, "held-out loss that decides early stopping: total or sample");
  }
};

class Regression : public Objective {
 public:
  Regression(const Student& student, PdePtr pde, const Normalizer& normalizer, PairSource& pairs,
             const PairOptions& pair_options, const RegressionOptions& options, int64_t batch, uint64_t seed);

  Loss loss(int64_t step) override;
  std::optional<double> validate() override;

 private:
  double ramp(int64_t step) const;
  void refresh(int64_t window);
  Tensor sample_term(const Tensor& x, const Tensor& x0) const;
  Loss terms(const Tensor& e, const Tensor& x0, double ramp) const;

  const Student& student_;
  PdePtr pde_;
  Normalizer normalizer_;
  PairSource& source_;
  PairOptions pair_options_;
  RegressionOptions options_;
  int64_t batch_;
  uint64_t seed_;

  int64_t window_ = -1;  ///< which refresh the pool belongs to
  Pairs pool_;
  std::optional<BatchOrder> order_;
  Pairs held_out_;
  Tensor channel_weights_;  ///< [C,1,1], mean 1
};

}  // namespace piddm
