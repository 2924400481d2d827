#pragma once
// What every training of a model ends in: the loop, and the model in its folder.

#include <string>

#include "piddm/experiment/experiment.h"
#include "piddm/files/run_folder.h"

namespace piddm {

/// Trains the model's network and leaves the model in RUN/model, its snapshots in RUN/snapshots/STEP, its curves in
/// RUN/curves.png. `source`: the model whose training came before, if any.
void train_model(Model& model, const Model* source, Objective& objective, const TrainOptions& options,
                 const Experiment& experiment, RunFolder& run, const std::string& label);

/// A DataError unless there are at least two samples of this PDE and its solutions vary.
void check_training_data(const Dataset& data, const Normalizer& normalizer, const Pde& pde);

}  // namespace piddm
