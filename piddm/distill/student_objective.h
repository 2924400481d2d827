#pragma once
// What all distillations share: the distance of a student's samples to given ones, and their physics. Where the student
// has a sharp head or a corrector both see the sample before these (the soft sample of model/heads.h): a cut has no
// slope, and what a solver corrects is no longer learned. An adversary sees the final sample.
//
//   L = match + lambda ||R(d(e))||^2 + boundary ||B(d(e))||^2 + error ||E(d(e))||^2     means over entries
//
// R in the unit of the PDE, and the mean over its equations, B (boundary and initial conditions) and E in standard
// deviations of the solution. `match` is the business of the objective: regression.h, dmd.h, consistency.h. lambda =
// boundary = error = 0 is distillation without physics. E = L^-1 r is the error of u (of every solution channel) that
// the residual stands for, by the PDE's fast solver (pde/physics_loss.h). R is ruled by the finest scales, so a student
// can have little of it and still be off the solution by a smooth field: E sees just that. It moves u only; with
// gradients in the coefficients they become such that u is easy.
//
// Distance: with huber = c > 0 the square d^2 of an entry becomes 2 c (sqrt(d^2 + c^2) - c): d^2 for small d, 2 c |d|
// for large. Squares make the student a conditional mean, which blurs a two-valued coefficient; large errors counted
// linearly keep it sharp. solution_weight > 1 gives the solution channels more of the distance (the weights have mean
// 1): their errors are small beside those at the edges of a coefficient, and left to itself the physics term would
// rather shrink u than leave a residual.
//
// spread > 0 adds spread * mean (s(x) - s(x_0))^2, s the standard deviation of an entry over the batch: where a student
// cannot follow its teacher it is a conditional mean of less variance. Both are of the same latents, so the chance of
// the batch cancels. mean > 0 likewise adds mean * mean (m(x) - m(x_0))^2, m the mean of an entry over the batch: an
// adversary (below) looks at patches and lets the large scales drift.
//
// fresh > 0 (regression, reflow) adds that share of a batch of new latents to those of the pairs where physics is
// looked at. Pairs cost a hundred evaluations of the teacher each, are few and come again; a student learns to obey the
// equation on them and less elsewhere. Physics needs no target.
//
// freeze_coefficients keeps the physics terms from choosing coefficients for which the equation is easier: the law of
// the coefficients then comes from the teacher alone. Where u = 0 solves the equation (Heat, Stokes) u shrinks instead,
// so it is off by default.
//
// lambda, boundary and error rise linearly from 0 over the first `physics_ramp` steps: at full weight before the
// student tracks the teacher, trivial fields of low residual win.
//
// adversary.weight > 0 adds the verdict of a discriminator that is trained against true data (adversary.h). Held-out
// pairs then decide nothing any more: a law has no pairs.
//
// residual_target > 0 divides the residual by its running mean (weighting.h), gradients = "project" removes the
// conflict between match and physics (conflict_free.h).

#include "piddm/distill/adversary.h"
#include "piddm/distill/pair_pool.h"
#include "piddm/distill/weighting.h"
#include "piddm/model/student.h"
#include "piddm/train/objective.h"

namespace piddm {

/// What decides early stopping on the held-out pairs: the whole loss, or the distance alone as in the paper.
enum class StopOn { total, sample };
inline std::vector<std::string> enum_names(StopOn) { return {"total", "sample"}; }

/// How the gradients of match and physics are joined.
enum class GradientRule { sum, project };
inline std::vector<std::string> enum_names(GradientRule) { return {"sum", "project"}; }

struct StudentLossOptions {
  double lambda = 10;
  double boundary = 0;
  double error = 0;
  bool freeze_coefficients = false;
  double huber = 0;
  double solution_weight = 1;
  double spread = 0;
  double mean = 0;
  double fresh = 0;
  int64_t physics_ramp = 200;
  StopOn stop_on = StopOn::total;
  double residual_target = 0;
  GradientRule gradients = GradientRule::sum;
  AdversaryOptions adversary = {};

  template <class V>
  void fields(V&& f) {
    f("lambda", lambda, at_least(0), "weight of the residual; 0: none");
    f("boundary", boundary, at_least(0),
      "weight of the boundary and initial conditions, where the PDE has them apart from its stencil");
    f("error", error, at_least(0), "weight of the error of u behind the residual, where the PDE has a fast solver");
    f("freeze_coefficients", freeze_coefficients,
      "no gradient of the physics terms in the coefficients: only u is moved");
    f("huber", huber, at_least(0), "error beyond which the sample term grows linearly; 0: squares throughout");
    f("solution_weight", solution_weight, more_than(0),
      "weight of a solution channel in the sample term; a coefficient's is 1");
    f("spread", spread, at_least(0),
      "weight of the difference in standard deviation between the student's and the given samples");
    f("mean", mean, at_least(0), "weight of the difference in mean between the student's and the given samples");
    f("fresh", fresh, between(0, 1000),
      "new latents for the physics terms beside those of the pairs, as a share of the batch");
    f("physics_ramp", physics_ramp, count_from(0), "steps over which the physics terms rise to their weights");
    f("stop_on", stop_on, "held-out loss that decides early stopping: total or sample");
    f("residual_target", residual_target, at_least(0),
      "dynamic weighting: size of the residual after division by its running mean (the paper: 1e-4); 0: no division");
    f("gradients", gradients, "sum, or project: conflicting gradients of distillation and physics lose their conflict");
    f("adversary", adversary, "a discriminator that tells the student's samples from true data, and its verdict");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"physics_from", "", "the physics sets in with the first step; physics_ramp says how slowly"},
            {"residual_memory", "", "always 0.99"}};
  }

  bool physics() const { return lambda > 0 || boundary > 0 || error > 0; }
};

/// A UsageError where the PDE has no fast solver for `error`.
void check_loss(const StudentLossOptions& options, const Pde& pde);

class StudentObjective : public Objective {
 public:
  bool keeps_state() const override { return weight_.active() || adversary_; }
  void advance(int64_t step) override;
  ObjectiveState state() const override;
  void load(const ObjectiveState& state) override;

  /// From here on the student has this adversary.
  void oppose(std::unique_ptr<Adversary> adversary) { adversary_ = std::move(adversary); }

 protected:
  /// `model` is what `student` is made of: PDE, normaliser, process.
  StudentObjective(const Student& student, const Model& model, const StudentLossOptions& options);

  /// Mean over entries, a scalar.
  Tensor distance(const Tensor& x, const Tensor& x0) const;

  /// `match`, recorded as `name`, the physics of the soft samples (network units) and the verdict on the final ones
  /// that become of them, with the weights of step `step`.
  Loss with_physics(const std::string& name, const Tensor& match, const Tensor& soft, int64_t step);

  /// Whether with_physics() does the same operations in this step and all after it: the physics has its full weight,
  /// the adversary has set in, and no number comes from the host.
  bool steady(int64_t step) const;

  /// The loss of held-out pairs with the full weight of the physics; nothing where there is an adversary.
  std::optional<double> judge(PairPool& pool);

  const Student& student_;
  Model model_;

 private:
  double ramp(int64_t step) const;
  Loss assemble(const std::string& name, const Tensor& match, const Tensor& x, double ramp) const;
  Tensor joined(const Tensor& match, const std::vector<Tensor>& physics) const;

  StudentLossOptions options_;
  Tensor channel_weights_;  ///< [C,1,1], mean 1
  DynamicWeight weight_;
  Tensor residual_;  ///< of the last step, for the running mean
  std::unique_ptr<Adversary> adversary_;
  Tensor shown_;  ///< samples of the last step, for the adversary
};

}  // namespace piddm
