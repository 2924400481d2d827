#include "piddm/experiment/experiment.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "piddm/core/available_memory.h"
#include "piddm/core/config.h"
#include "piddm/core/log.h"
#include "piddm/experiment/chosen_experiment.h"
#include "piddm/experiment/run_origin.h"
#include "piddm/experiment/train_model.h"
#include "piddm/model/network_registry.h"
#include "piddm/model/parameters.h"
#include "piddm/pde/pde_file.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

std::unique_ptr<Objective> teacher_objective(const Experiment& experiment, const Model& model, const Tensor& data) {
  const int64_t batch = experiment.train.batch;
  if (experiment.pidm.lambda == 0 && !experiment.pidm.watch)
    return std::make_unique<FlowMatching>(*model.network, model.process, data, batch, experiment.seed,
                                          experiment.times);
  return std::make_unique<Pidm>(*model.network, model.process, data, batch, experiment.seed, model.pde,
                                model.normalizer, experiment.pidm, experiment.times);
}

/// One round of reflow: a teacher with straighter trajectories between the same ends.
Model reflow_round(const Experiment& experiment, const Model& previous, const fs::path& out, const fs::path& pair_cache,
                   bool resume) {
  const auto& o = experiment.distill;
  const auto training = training_of_round(std::get<ReflowOptions>(o.own), o.train);
  Model model = clone_model(previous);
  model.process = linear_process();
  model.provenance = {{"teacher", previous.provenance}};
  return in_run(out, origin_of_reflow(previous), experiment, resume, [&](RunFolder& run) {
    PairSource pairs(previous, experiment.seed, o.pairs, pair_cache);
    Reflow objective(*model.network, pairs, training.batch, experiment.seed);
    train_model(model, &previous, objective, training, experiment, run, out.filename().string());
    return model;
  });
}

/// What an adversary compares with, in network units: the given data, or those the teacher was trained on.
Tensor true_samples(const Experiment& experiment, const Model& model, const std::function<Dataset()>& data) {
  const auto set = data ? data() : training_data(experiment);
  check_matches(set, *model.pde);
  return model.normalizer.to_network(set.fields).to(torch::kFloat32);
}

int64_t bytes_of_sample(const Pde& pde) { return 4 * pde.num_channels() * pde.grid().points(); }

/// Makes the network of a config's table, for its errors; once, as tables of results parse many experiments.
void check_network(const json& table) {
  static std::set<std::string> sound;
  if (sound.contains(table.dump())) return;
  const TrialNetworks trial;
  network_from(table, 1, 0);
  sound.insert(table.dump());
}

}  // namespace

Experiment parse_experiment(const json& config, FormerKeys policy) {
  Experiment experiment;
  json whole = config;
  if (const auto pde = whole.find("pde"); pde != whole.end()) *pde = resolved_pde(*pde);
  read_fields(whole, experiment, "", policy);
  process_registry().at(experiment.process);
  check_network(experiment.model);
  require<UsageError>(experiment.kind != ModelKind::student, "kind: a student is distilled: `piddm distill`");
  check_training(experiment.train, "train");
  check_posterior(experiment.posterior, "posterior");
  check_distillation(experiment.distill, *make_pde(experiment.pde));
  return experiment;
}

Experiment with_settings(const Experiment& experiment, const std::vector<std::string>& settings) {
  json config = write_fields(experiment);
  for (const auto& setting : settings) apply_setting(config, setting);
  return parse_experiment(config);
}

Experiment load_experiment(const std::string& name, const std::vector<std::string>& settings) {
  return find_experiment(name, settings).experiment;
}

Dataset training_data(const Experiment& experiment) {
  if (!experiment.data.path.empty()) return load_dataset(experiment.data.path);
  return make_dataset(*make_pde(experiment.pde), experiment.data.seed, 0, experiment.data.n);
}

void check_training_memory(const Experiment& experiment, torch::Device device) {
  Model model;
  model.pde = make_pde(experiment.pde);
  const auto& posterior = experiment.posterior;
  const bool amortised = experiment.kind == ModelKind::posterior;
  model.network = network_from(experiment.model, model.pde->num_channels(), experiment.seed,
                               amortised ? posterior_conditions(*model.pde, posterior.draw) : 0);
  model.network->to(device);
  if (amortised)
    require_batch("train.batch times posterior.loss.draws", experiment.train.batch * posterior.loss.draws, model, true);
  else
    require_batch("train.batch", experiment.train.batch, model, true);
  if (experiment.data.path.empty())  // as generated, and in the network's units
    require_memory("data.n", experiment.data.n, 2 * bytes_of_sample(*model.pde), torch::kCPU);
}

void check_distillation_memory(const Experiment& experiment, const Model& teacher) {
  const auto& o = experiment.distill;
  const int64_t pair = 2 * bytes_of_sample(*teacher.pde);
  const auto latents = static_cast<int64_t>(static_cast<double>(o.train.batch) * (1 + o.loss.fresh));
  require_batch(o.loss.fresh > 0 ? "distill.train.batch with distill.loss.fresh" : "distill.train.batch", latents,
                teacher, true);
  require_memory("distill.pairs.held_out", o.pairs.held_out, pair, teacher.device());
  require_memory("distill.pairs.chunk", o.pairs.chunk, pair, teacher.device());
  require_memory("distill.pairs.pool", std::min(o.pairs.pool, o.train.steps / o.pairs.every + 1), o.pairs.chunk * pair,
                 teacher.device());
  if (const auto* reflow = std::get_if<ReflowOptions>(&o.own))
    require_batch("distill.reflow.batch", reflow->batch, teacher, true);
}

Model train_teacher(const Experiment& experiment, const Dataset& data, const fs::path& out, torch::Device device,
                    bool resume) {
  Model model;
  model.pde = make_pde(experiment.pde);
  check_matches(data, *model.pde);
  model.process = process_registry().at(experiment.process)();
  model.normalizer = Normalizer::fit(data.fields, model.pde->channels());
  check_training_data(data, model.normalizer, *model.pde);
  model.network = network_from(experiment.model, model.pde->num_channels(), experiment.seed);
  model.network->to(device);

  return in_run(out, origin_of_teacher(data.fields), experiment, resume, [&](RunFolder& run) {
    const auto objective = teacher_objective(experiment, model, model.normalizer.to_network(data.fields).to(device));
    auto options = experiment.train;
    if (experiment.pidm.lambda > 0) options.precision = experiment.pidm.precision;
    train_model(model, nullptr, *objective, options, experiment, run, "train teacher");
    return model;
  });
}

Model distill_student(const Experiment& experiment, const Model& teacher, const fs::path& out,
                      const fs::path& pair_cache, bool resume, const std::string& label,
                      const std::function<Dataset()>& data) {
  require<UsageError>(teacher.kind == ModelKind::teacher,
                      "--teacher: this model is a student; distillation starts from a teacher");
  const auto& o = experiment.distill;
  const auto& card = objective_card(o.objective);
  check_distillation_memory(experiment, teacher);
  make_student(teacher, o, experiment.seed);  // its errors before there is a run folder
  const auto pairs_of = [&](int64_t round) { return round == 0 ? pair_cache : pair_cache / name_of_round(round); };
  const auto truth = o.loss.adversary.weight > 0 ? true_samples(experiment, teacher, data) : Tensor();
  return in_run(out, origin_of_student(teacher, truth), experiment, resume, [&](RunFolder& run) {
    Model source = teacher;
    for (int64_t round = 1; round <= card.rounds; ++round)
      source = reflow_round(experiment, source, out / name_of_round(round), pairs_of(round - 1), resume);

    Model model = make_student(source, o, experiment.seed);
    model.provenance = {{"teacher", teacher.provenance}};
    Student student(model);
    if (o.loss.freeze_coefficients) student.freeze_coefficients();
    PairSource pairs(source, experiment.seed, o.pairs, pairs_of(card.rounds));
    const auto compared = truth.defined() ? truth.to(model.device()) : truth;
    const auto objective = make_objective({student, model, source, pairs, o, experiment.seed, compared});
    train_model(model, &source, *objective, o.train, experiment, run, label);
    return model;
  });
}

Figure draw_training(const fs::path& run) {
  static const std::set<std::string> no_losses = {"step", "lr", "gradient_norm", "seconds"};
  static const std::set<std::string> of_equation = {"pde_error", "boundary_error"};
  LineChart losses{.title = "Loss", .x_label = "step", .y_label = "loss", .log_y = true};
  LineChart physics{.title = "PDE error", .x_label = "step", .y_label = "mean of R squared", .log_y = true};
  for (const auto& row : RunFolder::read_metrics(run))
    for (const auto& [name, value] : row.items()) {
      if (no_losses.contains(name) || !value.is_number() || !row.value("step", json()).is_number()) continue;
      auto& curves = (of_equation.contains(name) ? physics : losses).curves;
      auto curve =
          std::find_if(curves.begin(), curves.end(), [&name = name](const Curve& c) { return c.name == name; });
      if (curve == curves.end()) curve = curves.insert(curves.end(), Curve{name});
      curve->x.push_back(row.at("step"));
      curve->y.push_back(value);
    }
  std::vector<Panel> charts = {losses};
  if (!physics.curves.empty()) charts.emplace_back(physics);
  return in_rows("Training of " + run.filename().string(), std::move(charts), 2);
}

}  // namespace piddm
