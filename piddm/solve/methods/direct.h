#pragma once
// No network: the sample itself is optimised on misfit and residual,
//
//   min_z  ||M (z - z')||^2 + lambda E(z) + ridge mean(z^2),   from the mean field z = 0, in network units, float64
//
// with the misfit of target.h; exact values are put in place before E is taken and stay in the result (hard). E is the
// mean over the rows (of several equations: the mean of theirs) of (row / the rows' RMS gradient)^2: how far the sample
// is from meeting the equation, in network units. Where a PDE has a fast solver and u is mostly unknown, the rows of
// the residual are replaced by L^-1 r / std(u), the error of u they stand for. Boundary and initial conditions are rows
// too.
//
// From z = 0 L-BFGS moves in the row space of the linearised equations: of all fields that meet a linear problem it
// finds the one nearest to the mean field. That is all the prior there is, so expect little where observations are few.

#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/equation_rows.h"

namespace piddm {

struct DirectOptions {
  int64_t iterations = 500;
  double lambda = 1;
  double ridge = 0;  ///< not a key: nothing but tests sets it
  bool precondition = true;
  bool hard = true;
  int64_t batch = 32;

  template <class V>
  void fields(V&& f) {
    f("iterations", iterations, count_from(1), "evaluations of the objective");
    f("lambda", lambda, at_least(0), "weight of the residual");
    f("precondition", precondition,
      "measure the residual by the solution error it stands for, where the PDE has a fast solver and u is mostly "
      "unknown");
    f("hard", hard, "replace entries whose value is known exactly");
  }
  static std::vector<FormerKey> former_keys() {
    constexpr auto kWhy = "fields are always fitted by L-BFGS";
    return {{"optimizer", "", kWhy}, {"step", "", kWhy}, {"ridge", "", "nothing set it"}};
  }
};

class DirectMethod : public BatchedMethod {
 public:
  DirectMethod(const Model& model, const DirectOptions& options);
  static std::string refusal(Task task, const Pde& pde);
  static std::string draw_refusal(Task task, const Pde& pde);

  /// The whole solution known exactly, where the equation then fixes the coefficients: mse_a 2e-5 on Darcy, 2e-21 on
  /// Burgers, 5e-18 on heat, 4e-4 on Stefan; not on Navier-Stokes (3e-3) and Stokes (0.46); docs/tasks.md.
  static std::optional<Suitability> suits(const Problem& problem);

 protected:
  Tensor sample(const Batch& batch) override;
  bool takes_functionals() const override { return true; }
  torch::ScalarType dtype() const override { return torch::kFloat64; }
  void check(const Target& known) const override { check_given_coefficients(known, model_, name()); }
  int64_t extra_bytes() const override { return rows_.bytes_per_sample(); }

 private:
  Tensor minimum(const Target& target) const;

  EquationRows rows_;
  DirectOptions options_;
};

}  // namespace piddm
