#pragma once
// PIDM (Bastek, Sun, Kochmann: "Physics-informed diffusion models", ICLR 2025): flow matching with the residual of the
// network's own clean estimate. The constraint is on the posterior mean, not on a sample: Jensen's gap.
//
//   L = || v(x_t, t) - (alpha' x_0 + sigma' e) ||^2 + lambda_t ( ||R(x0^)||^2 + boundary ||B(x0^)||^2 )
//
// lambda_t   constant: lambda (the paper's reading, lambda_train).  sigma: lambda / (2 Sigma_t), upstream's, with
//            lambda = 1e-3 there. Sigma_t is the variance of x_s given x_t and x_0 for s = t - 1/100, one step of
//            upstream's 100: Sigma_t = (sigma_s/sigma_t)^2 (sigma_t^2 - (alpha_t/alpha_s)^2 sigma_s^2); below t = 2/100
//            its value there.
// x0^        mean: clean estimate of v(x_t, t).  sample: a deterministic (DDIM) walk from t to 1/100 with `walk` stops
//            between, then the clean estimate there: walk + 2 evaluations with their gradients.

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
  int64_t walk = 0;
  Precision precision = Precision::fp32;
  bool watch = false;

  template <class V>
  void fields(V&& f) {
    f("lambda", lambda, "weight of the residual of the clean estimate; 0: plain flow matching");
    f("boundary", boundary, "weight of boundary and initial conditions beside it");
    f("weighting", weighting, "constant, or sigma: lambda / (2 Sigma_t) as upstream, which has lambda = 1e-3");
    f("estimate", estimate, "clean estimate: mean, or sample (a deterministic walk towards t = 0)");
    f("walk", walk, "stops of the walk between t and 1/100");
    f("precision", precision,
      "arithmetic of the network on a GPU in place of train.precision where lambda > 0: residuals see its rounding");
    f("watch", watch, "record the residual of the clean estimate although lambda is 0");
  }
};

class Pidm : public FlowMatching {
 public:
  /// `data` as for FlowMatching; the residual is that of physical fields.
  Pidm(Network& network, ProcessPtr process, const Tensor& data, int64_t batch, uint64_t seed, PdePtr pde,
       Normalizer normalizer, const PidmOptions& options, Spacing times = Spacing::uniform);

  bool capturable() const override { return false; }

  /// lambda_t of each time, [B].
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
