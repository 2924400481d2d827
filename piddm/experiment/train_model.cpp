#include "piddm/experiment/train_model.h"

#include <cmath>

#include "piddm/core/device.h"
#include "piddm/model/weights.h"
#include "piddm/plot/picture_file.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

json provenance(const Experiment& experiment, const TrainSummary& summary) {
  return {
      {"experiment", write_fields(experiment)}, {"machine", describe_machine()},          {"steps", summary.steps},
      {"best_step", summary.best_step},         {"stopped_early", summary.stopped_early}, {"seconds", summary.seconds}};
}

/// `source`: the model whose training came before, if any.
Training training_of(const Experiment& experiment, const Model& model, const Model* source, double seconds) {
  Training out{.lambda = experiment.distill.loss.lambda, .residual_lambda = experiment.pidm.lambda};
  if (model.kind == ModelKind::posterior) out.lambda = experiment.posterior.loss.lambda;
  if (!source || source->training.seconds > 0) out.seconds = seconds + (source ? source->training.seconds : 0);
  if (model.kind == ModelKind::student) out.solve = write_fields(experiment.solve);
  return out;
}

/// Solutions that are all the same cannot be learnt from; a coefficient may be kept constant on purpose.
void check_varied(const Normalizer& normalizer, const Pde& pde) {
  for (int64_t c = 0; c < normalizer.num_channels(); ++c)
    require<DataError>(pde.channels()[static_cast<size_t>(c)].role != Role::solution ||
                           normalizer.std(c) > 1e-14 * std::abs(normalizer.mean(c)),
                       "[{}] channel '{}' has the value {:.6g} everywhere in the training data: nothing to learn from",
                       pde.name(), normalizer.name(c), normalizer.mean(c));
}

}  // namespace

void train_model(Model& model, const Model* source, Objective& objective, const TrainOptions& options,
                 const Experiment& experiment, RunFolder& run, const std::string& label) {
  const auto keep = [&](const TrainSummary& so_far, const TensorMap& average) {
    Model snapshot = clone_model(model);
    load_weights(*snapshot.network, average, "moving average");
    snapshot.training = training_of(experiment, model, source, so_far.seconds);
    snapshot.provenance.update(provenance(experiment, so_far));
    fs::create_directories(run.path() / "snapshots");
    save_model(run.path() / "snapshots" / std::to_string(so_far.steps), snapshot);
  };
  const auto summary = train(*model.network, objective, options, run, label, keep);
  model.training = training_of(experiment, model, source, summary.seconds);
  model.provenance.update(provenance(experiment, summary));
  save_model(run.path() / "model", model);
  write_sheet(draw_training(run.path()), run.path(), "curves");
}

void check_training_data(const Dataset& data, const Normalizer& normalizer, const Pde& pde) {
  require<DataError>(data.size() >= 2, "[{}] training needs at least 2 samples, got {}", pde.name(), data.size());
  check_varied(normalizer, pde);
}

}  // namespace piddm
