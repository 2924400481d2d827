#pragma once
// The judgement of generated samples and of solved tasks, as json: one key a metric, docs/metrics.md has the definitions.
//
//   mmse, smse (mean of channels), mmse_u, ...   distance of pixelwise means and deviations from held-out data, z-scored channels
//   pde_error        mean of R^2 over samples and scored points
//   rel_residual     RMS(r_phys) / RMS(reference term of held-out true data)
//   boundary_error   mean square violation of boundary and initial conditions (PDEs that have them apart from the stencil)
//   solution_error   mean of (u - u*(a))^2, z-scored: how far u is from the solution for the sample's own a;
//                    over the first `solved` samples (solving anew is dear for some PDEs)
//   nfe, backward, seconds_per_sample            work
//   mse_u, mse_a     task: mean square error against the truth, z-scored, over the entries that were not given
//   misclassified    task: share of cells of a two-valued coefficient on the wrong side
//   mean_field_mse_u task: what the mean of the training data would score

#include "piddm/data/normalizer.h"
#include "piddm/eval/metrics.h"
#include "piddm/solve/method.h"

namespace piddm {

/// What samples are judged against: held-out true data and what the training set says about units and means.
class Judge {
 public:
  /// `held_out` [N,C,H,W] physical; `mean_field` [C,H,W] physical, the pixelwise mean of the training data. solution_error is
  /// measured on the first `solved` samples.
  Judge(PdePtr pde, Normalizer normalizer, Tensor held_out, Tensor mean_field, int64_t solved = 128);

  json samples(const Samples& samples) const;
  json task(const Samples& solved, const Tensor& truth, const Observation& observation) const;

  /// The 95th percentile of true data against true data with `n` generated samples, and the data's own residual.
  json floor(int64_t n, uint64_t seed) const;

 private:
  void add_physics(json& out, const Tensor& x) const;

  PdePtr pde_;
  Normalizer normalizer_;
  Tensor held_out_, held_out_z_, mean_field_;
  int64_t solved_;
  double reference_rms_;
};

}  // namespace piddm
