#pragma once
// The judgement of generated samples and of solved tasks, as json: one key a metric, docs/metrics.md has the
// definitions. Errors of fields are z-scored (units of a channel's standard deviation in the training data) unless they
// say otherwise.
//
//   mmse, smse (mean of channels), mmse_u, ...   distance of pixelwise means and deviations from held-out data
//   swd, apdd, spectrum_error, fpd, ...          distances of sets beyond those (set_distances.h)
//   pde_error        mean of R^2 over samples and scored points
//   rel_residual     RMS(r_phys) / RMS(reference term of held-out true data)
//   boundary_error   mean square violation of boundary and initial conditions (PDEs that have them apart from the
//                    stencil)
//   constraint_error generated: mean square of C(x) - x over the entries the PDE's hard constraint C can change; tasks:
//   of the error at what was given
//   solution_error   mean of (u - u*(a))^2: how far u is from the solution for the sample's own a; over the first
//                    `solved` samples (solving anew is dear for some PDEs)
//   nfe, backward, seconds_per_sample            work
//   mse_u, mse_a     task: mean square error against the truth over the entries that were not given
//   rel_l2_u, ...    task: mean over cases of |x - truth| / |truth|, physical units, whole channel
//   misclassified    task: share of cells of a two-valued coefficient on the wrong side
//   mean_field_mse_u task: what the mean of the training data would score
//   crps_u, coverage_u, spread_u, mean_mse_u     ensembles of answers (ensemble.h), and coverage_nominal
//   intervals        with resamples: [from, to] under the same keys

#include "piddm/data/normalizer.h"
#include "piddm/eval/metrics.h"
#include "piddm/eval/set_distances.h"
#include "piddm/solve/method.h"

namespace piddm {

/// What samples are judged against: held-out true data and what the training set says about units and means.
class Judge {
 public:
  /// `held_out` [N,C,H,W] physical; `mean_field` [C,H,W] physical, the pixelwise mean of the training data. Everything
  /// is computed in float64 on `device`, where these stay; what is judged may come from any. solution_error is measured
  /// on the first `solved` samples.
  Judge(PdePtr pde, Normalizer normalizer, const Tensor& held_out, const Tensor& mean_field,
        torch::Device device = torch::kCPU, int64_t solved = 128);

  /// Samples are also judged by the Frechet distance in these features.
  void add(const FeatureMetric& metric) { distances_.add(metric); }

  json samples(const Samples& samples, const Bootstrap& bootstrap = {}) const;
  json task(const Samples& solved, const Tensor& truth, const Observation& observation,
            const Bootstrap& bootstrap = {}) const;

  /// Several answers to the same cases, from other starts or seeds.
  json ensemble(const std::vector<Samples>& members, const Tensor& truth, const Observation& observation,
                const Bootstrap& bootstrap = {}) const;

  /// The 95th percentile of true data against true data with `n` generated samples, and the data's own residual.
  json floor(int64_t n, uint64_t seed) const;

 private:
  class Report;
  Tensor here(const Tensor& x) const { return x.to(held_out_.device(), torch::kFloat64); }
  void add_physics(Report& report, const Tensor& x) const;
  void add_moments(Report& report, const Tensor& z) const;
  void add_constraint(Report& report, const Tensor& x) const;

  PdePtr pde_;
  Normalizer normalizer_;
  Tensor held_out_, held_out_z_, mean_field_;
  int64_t solved_;
  double reference_rms_;
  Tensor constrained_;  ///< [C,H,W] bool: what the PDE's hard constraint can change
  SetDistances distances_;
};

}  // namespace piddm
