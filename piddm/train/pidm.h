#pragma once
// PIDM (Bastek, Sun, Kochmann: "Physics-informed diffusion models", ICLR 2025): flow matching with the residual of the
// network's own clean estimate. The constraint is on the posterior mean, not on a sample: Jensen's gap.
//
//   L = || v(x_t, t) - (alpha' x_0 + sigma' e) ||^2 + w_t ( lambda ||R(x0^)||^2 + boundary ||B(x0^)||^2 )
//
// R in the unit of the PDE, B (boundary and initial conditions) in standard deviations of the solution, as in
// distill/student_objective.h.
//
// w_t        constant: 1 (the paper's reading, lambda_train).  sigma: 1 / (2 Sigma_t), upstream's, with lambda = 1e-3
//            there. Sigma_t is the variance of x_s given x_t and x_0 for s = t - 1/100, one step of upstream's 100:
//            Sigma_t = (sigma_s/sigma_t)^2 (sigma_t^2 - (alpha_t/alpha_s)^2 sigma_s^2); below t = 2/100 its value at
//            2/100.
// x0^        mean: clean estimate of v(x_t, t).  sample: a deterministic (DDIM) step from t to 1/100, then the clean
//            estimate there: 2 evaluations with their gradients.

#include "piddm/data/normalizer.h"
#include "piddm/train/flow_matching.h"

namespace piddm {

enum class PidmWeighting { constant, sigma };
inline std::vector<std::string> enum_names(PidmWeighting) { return {"constant", "sigma"}; }

enum class PidmEstimate { mean, sample };
inline std::vector<std::string> enum_names(PidmEstimate) { return {"mean", "sample"}; }

struct PidmOptions {
  double lambda = 0;
  double boundary = 0;
  PidmWeighting weighting = PidmWeighting::constant;
  PidmEstimate estimate = PidmEstimate::mean;
  Precision precision = Precision::fp32;
  bool watch = false;  ///< record the residual of the clean estimate although lambda is 0; no key of a config

  template <class V>
  void fields(V&& f) {
    f("lambda", lambda, at_least(0), "weight of the residual of the clean estimate; 0: plain flow matching");
    f("boundary", boundary, at_least(0), "weight of boundary and initial conditions where lambda > 0");
    f("weighting", weighting, "constant, or sigma: divided by 2 Sigma_t as upstream, which has lambda = 1e-3");
    f("estimate", estimate, "clean estimate: mean, or sample (a deterministic step towards t = 0)");
    f("precision", precision,
      "arithmetic of the network on a GPU in place of train.precision where lambda > 0: residuals see its rounding");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"walk", "", "the estimate \"sample\" goes to its end in one step"},
            {"watch", "", "figure-training-gap watches by itself"}};
  }
};

class Pidm : public FlowMatching {
 public:
  /// `data` as for FlowMatching; the residual is that of physical fields.
  Pidm(Network& network, ProcessPtr process, const Tensor& data, int64_t batch, uint64_t seed, PdePtr pde,
       Normalizer normalizer, const PidmOptions& options, Spacing times = Spacing::uniform);

  bool capturable(int64_t /*step*/) const override { return false; }

  /// w_t lambda of each time, [B].
  Tensor weight(const Tensor& t) const;

 protected:
  Loss judge(const Batch& batch, const Tensor& v) override;

 private:
  Tensor estimate(const Batch& batch, const Tensor& v);

  PdePtr pde_;
  Normalizer normalizer_;
  PidmOptions options_;
};

}  // namespace piddm
