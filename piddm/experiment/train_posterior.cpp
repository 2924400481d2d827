#include "piddm/experiment/train_posterior.h"

#include "piddm/experiment/run_origin.h"
#include "piddm/experiment/train_model.h"
#include "piddm/model/network_registry.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

/// A student to be trained: without the cut, which has no gradient of its own.
HeadOptions heads_in_training(HeadOptions heads) {
  heads.sharp = false;
  return heads;
}

}  // namespace

Model make_posterior(const Experiment& experiment, const Dataset& data) {
  Model model;
  model.kind = ModelKind::posterior;
  model.pde = make_pde(experiment.pde);
  check_matches(data, *model.pde);
  model.process = linear_process();
  model.normalizer = Normalizer::fit(data.fields, model.pde->channels());
  check_training_data(data, model.normalizer, *model.pde);
  model.heads = experiment.posterior.heads;
  model.draw = experiment.posterior.draw;
  model.network = network_from(experiment.model, model.pde->num_channels(), experiment.seed,
                               posterior_conditions(*model.pde, model.draw));
  PosteriorStudent{model};  // for its errors
  return model;
}

Model train_posterior(const Experiment& experiment, const Dataset& data, const fs::path& out, torch::Device device,
                      bool resume) {
  auto model = make_posterior(experiment, data);
  model.network->to(device);
  return in_run(out, origin_of_posterior(data.fields), experiment, resume, [&](RunFolder& run) {
    PosteriorStudent student(model, heads_in_training(model.heads));
    if (experiment.posterior.loss.freeze_coefficients) student.freeze_coefficients();
    const int64_t batch = experiment.train.batch;
    const auto samples =
        experiment.posterior.fresh
            ? fresh_samples(model, batch, experiment.data.seed)
            : pool_of(model.normalizer.to_network(data.fields).to(device, torch::kFloat32), batch, experiment.seed);
    PosteriorObjective objective(student, model, samples, experiment.posterior, experiment.seed);
    train_model(model, nullptr, objective, experiment.train, experiment, run, "train posterior");
    return model;
  });
}

Model train_experiment(const Experiment& experiment, const Dataset& data, const fs::path& out, torch::Device device,
                       bool resume) {
  const bool posterior = experiment.kind == ModelKind::posterior;
  return posterior ? train_posterior(experiment, data, out, device, resume)
                   : train_teacher(experiment, data, out, device, resume);
}

}  // namespace piddm
