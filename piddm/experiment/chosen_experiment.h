#pragma once
// The rule that chooses an experiment for a PDE that has no preset (docs/chosen-settings.md): from its channels, its
// grid, and a few samples of its law or of the user's data.
//
//   gain    pde_error of white noise of one standard deviation on the solution, to first order; a PDE by text has 100
//   floor   pde_error of the samples themselves
//   waves   per axis, the wave number up to which a channel has 99.99 % of its power (data/spectrum.h)
//
//   lambda        1000 / gain, at most 2e-3 / floor: noise and the samples' own residual count the same in any unit
//   solve.lambda  a tenth of it; with a fast solver 1
//   refine.step   N / (10 gain), N points; ten times that behind the smooth head
//
// Numbers are rounded to 1, 2 or 5 times a power of ten, so that the same file makes the same experiment everywhere.

#include <string>
#include <vector>

#include "piddm/experiment/experiment.h"

namespace piddm {

/// What the samples say.
struct PdeScales {
  double gain = 0, floor = 0;
  bool boundary = false;                  ///< the residual has a boundary part
  std::array<int64_t, 2> waves = {0, 0};  ///< of any channel, along H and W
  std::array<int64_t, 2> solution_waves = {0, 0};
};

/// Of at most 64 samples, [N,C,H,W] in physical units. A NumericsError where their residual is not finite.
PdeScales measure_scales(const Pde& pde, const Tensor& samples);

/// One setting that was chosen.
struct Choice {
  std::string key, why;
};

struct ChosenExperiment {
  Experiment experiment;
  std::vector<Choice> choices;  ///< empty where nothing was chosen: of a preset

  /// "distill.loss.lambda = 10: ...", one line each with the value in force.
  std::vector<std::string> lines() const;
};

/// What the experiment is for.
struct ChoiceOptions {
  ModelKind kind = ModelKind::teacher;  ///< of a teacher and its student, or of a posterior
  bool gpu = false;
};

/// The experiment of a PDE by the rule. `data`: the user's; null: drawn from the law, a UsageError without one.
ChosenExperiment choose_experiment(const PdeOptions& options, const Dataset* data = nullptr,
                                   const ChoiceOptions& choice = {});

/// Everything that stands where a preset does: a preset, a config's file, or the file of a PDE. Where a config is that
/// of a PDE by text and has no `base`, the rule is its base. `settings` are on top, `data` is data.path if not empty.
ChosenExperiment find_experiment(const std::string& name, const std::vector<std::string>& settings,
                                 const std::string& data = "", torch::Device device = torch::kCPU);

}  // namespace piddm
