#pragma once
// The judge of generated samples and of solved tasks. metric_registry.h lists what it measures, docs/metrics.md has
// the definitions. Errors of fields are in units of a channel's standard deviation in the training data, unless the
// registry says otherwise.

#include <optional>

#include "piddm/data/normalizer.h"
#include "piddm/eval/phase_metrics.h"
#include "piddm/eval/ensembles/scores.h"
#include "piddm/eval/set_distances.h"
#include "piddm/eval/two_sample.h"
#include "piddm/solve/method.h"

namespace piddm {

/// What samples are judged against: held-out true data and what the training set says about units and means.
class Judge {
 public:
  /// `held_out` [N,C,H,W] physical; `mean_field` [C,H,W] physical, the pixelwise mean of the training data. Everything
  /// is computed in float64 on `device`, where these stay; what is judged may be on any device. solution_error is
  /// measured on the first `solved` samples, because solving again is expensive for some PDEs.
  Judge(PdePtr pde, Normalizer normalizer, const Tensor& held_out, const Tensor& mean_field,
        torch::Device device = torch::kCPU, int64_t solved = 128);

  /// Samples are also judged by the Frechet distance in these features.
  void add(const FeatureMetric& metric) { distances_.add(metric); }

  /// Samples are also judged by a classifier that is trained to tell them from true data; takes its time.
  void add(const ClassifierRecipe& recipe) { test_.emplace(pde_, held_out_, recipe); }

  Scores samples(const Samples& samples, const Bootstrap& bootstrap = {}) const;
  Scores task(const Samples& solved, const Tensor& truth, const Observation& observation,
              const Bootstrap& bootstrap = {}) const;

  /// Several answers to the same cases, from different starts or seeds.
  Scores ensemble(const std::vector<Samples>& members, const Tensor& truth, const Observation& observation,
                  const Bootstrap& bootstrap = {}) const;

  /// The 95th percentile of true data against true data with `n` generated samples, and the data's own residual.
  Scores floor(int64_t n, uint64_t seed) const;

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
  std::vector<double> reference_rms_;  ///< of each equation
  Tensor constrained_;                 ///< [C,H,W] bool: what the PDE's hard constraint can change
  SetDistances distances_;
  PhaseMetrics phases_;
  std::optional<TwoSampleTest> test_;
};

}  // namespace piddm
