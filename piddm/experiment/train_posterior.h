#pragma once
// How a posterior is trained: an experiment of kind = "posterior".

#include "piddm/experiment/experiment.h"

namespace piddm {

/// The posterior of an experiment before its first step, with the normaliser of these data. A UsageError where network,
/// heads and PDE do not go together.
Model make_posterior(const Experiment& experiment, const Dataset& data);

/// Trains it in the run folder `out` (continued if it holds a run and `resume` is set) and leaves it in out/model. The
/// data give the normaliser and, unless posterior.fresh is set, the samples.
Model train_posterior(const Experiment& experiment, const Dataset& data, const std::filesystem::path& out,
                      torch::Device device, bool resume);

/// train_posterior or train_teacher, as the experiment's kind says.
Model train_experiment(const Experiment& experiment, const Dataset& data, const std::filesystem::path& out,
                       torch::Device device, bool resume);

}  // namespace piddm
