#include "piddm/recipe/workbench.h"

#include "piddm/core/config.h"
#include "piddm/core/device.h"
#include "piddm/data/generate.h"
#include "piddm/eval/feature_metric.h"
#include "piddm/eval/metric_registry.h"
#include "piddm/eval/poseidon/poseidon.h"
#include "piddm/files/safetensors.h"
#include "piddm/files/sha256.h"
#include "piddm/model/grid_transfer.h"
#include "piddm/recipe/cost.h"
#include "piddm/solve/decode.h"
#include "piddm/solve/methods/registry.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr size_t kModelsInMemory = 4, kSamplesInMemory = 4;

Experiment without_pidm(Experiment experiment) {
  experiment.pidm = {};
  return experiment;
}

/// What its teacher depends on: the rest of the experiment is not its business and must not get into its provenance.
Experiment teacher_part(Experiment experiment) {
  experiment.distill = {};
  experiment.posterior = {};
  experiment.solve = {};
  return experiment;
}

json teacher_settings(const Experiment& experiment) {
  json settings = write_fields(experiment);
  for (const char* later : {"kind", "posterior", "distill", "solve", "data"}) settings.erase(later);
  return settings;
}

Dataset data_of(const StepResult& step) {
  return of_step(step.folder, [&] { return load_dataset(step.folder / "data.npz"); });
}

Tensor mean_of(const StepResult& step) {
  return of_step(step.folder, [&] { return read_safetensors(step.folder / "mean.safetensors").tensors.at("mean"); });
}

std::string weights_file(const fs::path& model) {
  const auto inner = model / "model" / "model.safetensors";
  return (fs::exists(inner) ? inner : model / "model.safetensors").string();
}

/// Mean square error of each case over what was asked for, network units: [B].
Tensor case_errors(const Model& model, const Tensor& x, const Tensor& truth, const Tensor& mask) {
  const auto error =
      model.normalizer.to_network(x.to(torch::kFloat64)) - model.normalizer.to_network(truth.to(torch::kFloat64));
  const auto asked = 1 - mask.to(torch::kFloat64);
  return (error.square() * asked).sum({1, 2, 3}) / asked.sum({1, 2, 3}).clamp_min(1);
}

}  // namespace

Workbench::Workbench(fs::path root, const WorkbenchOptions& options, torch::Device device, Recipe::Mode mode)
    : recipe_(std::move(root), mode), options_(options), device_(device), machine_{{"device", device.str()}} {
  if (options.device != "models") resolve_device(options.device);    // wrong names are refused before anything runs
  if (device.is_cpu()) machine_["threads"] = at::get_num_threads();  // sums of a GPU do not depend on them
  if (!options.poseidon.empty()) poseidon_ = std::make_unique<ScotEncoder>(load_poseidon(options.poseidon, device));
}

Workbench::~Workbench() = default;

void Workbench::judge_by(const Experiment& experiment) { features_[experiment.pde.name] = without_pidm(experiment); }

void Workbench::give(ModelRole role, const fs::path& folder) {
  const auto key = fmt::format("given {}-{}", enum_names(role).at(static_cast<size_t>(role)),
                               sha256_file(weights_file(folder)).substr(0, 16));
  given_[role] = {{key, folder}, folder};
}

StepResult Workbench::data_step(const std::string& name, const Experiment& experiment, int64_t first, int64_t n) {
  const json settings = {
      {"pde", write_fields(experiment.pde)}, {"seed", experiment.data.seed}, {"first", first}, {"n", n}};
  return recipe_.step(
      name + " " + experiment.pde.name, settings, {},
      [&](const fs::path& folder) {
        const auto data = make_dataset(*make_pde(experiment.pde), experiment.data.seed, first, n);
        write_safetensors(folder / "mean.safetensors", {{"mean", data.fields.to(torch::kFloat64).mean(0)}});
        save_dataset(folder / "data.npz", data);
      },
      [&] { return expected_data_seconds(experiment, n); });
}

StepResult Workbench::training_data_step(const Experiment& experiment) {
  return data_step("training data", experiment, 0, experiment.data.n);
}

StepResult Workbench::held_out_step(const Experiment& experiment) {
  return data_step("held-out data", experiment, kHeldOutFirst, options_.held_out);
}

Workbench::Trained Workbench::teacher_step(const Experiment& asked, bool pidm) {
  const auto experiment = teacher_part(pidm ? asked : without_pidm(asked));
  json settings = teacher_settings(experiment);
  settings.update(machine_);
  const auto data = training_data_step(experiment);
  const auto step =
      recipe_.step((pidm ? "PIDM teacher " : "teacher ") + experiment.pde.name, settings, {data},
                   [&](const fs::path& folder) { train_teacher(experiment, data_of(data), folder, device_, true); },
                   [&] { return expected_training_seconds(experiment, pidm, device_); });
  return {step, step.folder};
}

Workbench::Trained Workbench::teacher_of_age(const Experiment& experiment, int64_t age) {
  auto teacher = teacher_step(experiment, false);
  if (age > 0) teacher.folder = teacher.step.folder / "snapshots" / std::to_string(age);
  return teacher;
}

Workbench::Trained Workbench::student_step(const Entry& entry) {
  const auto& experiment = entry.experiment;
  const auto teacher = teacher_of_age(experiment, entry.teacher_age);
  json settings = {{"seed", experiment.seed}, {"distill", write_fields(experiment.distill)}};
  if (entry.teacher_age > 0) settings["teacher_age"] = entry.teacher_age;
  const auto pairs = recipe_.root() / "steps" / fmt::format("pairs-of-{}-{}", teacher.step.key, entry.teacher_age);
  const auto& loss = experiment.distill.loss;
  const bool physics = loss.lambda > 0 || loss.boundary > 0 || loss.error > 0;
  const auto name =
      fmt::format("{}{} student {}", physics ? "" : "plain ", experiment.distill.objective, experiment.pde.name);
  const auto step = recipe_.step(
      name, settings, {teacher.step},
      [&](const fs::path& folder) {
        const auto data = [&] { return data_of(training_data_step(experiment)); };
        distill_student(experiment, load(teacher), folder, pairs, true, name, data);
      },
      [&] { return expected_distillation_seconds(experiment, device_); });
  return {step, step.folder};
}

Workbench::Trained Workbench::model_of(const Entry& entry) {
  if (const auto given = given_.find(entry.model); given != given_.end()) return given->second;
  if (entry.model == ModelRole::student) return student_step(entry);
  if (entry.model == ModelRole::pidm) return teacher_step(entry.experiment, true);
  return teacher_of_age(entry.experiment, entry.teacher_age);
}

json Workbench::options_of(const Entry& entry) const {
  json options = default_options(entry.method, write_fields(entry.experiment.solve));
  merge_config(options, entry.options);
  return options;
}

const Model& Workbench::load(const Trained& trained) {
  const auto key = trained.folder.string();
  if (!models_.contains(key)) {
    if (models_.size() >= kModelsInMemory) models_.clear();
    models_[key] = of_step(trained.step.folder, [&] { return load_model(trained.folder, device_); });
  }
  return models_.at(key);
}

Workbench::Trained Workbench::yardstick(const Experiment& experiment) {
  if (!given_.empty()) return given_.begin()->second;
  const auto found = features_.find(experiment.pde.name);
  return teacher_step(found == features_.end() ? experiment : found->second, false);
}

std::vector<StepResult> Workbench::judge_inputs(const Experiment& experiment) {
  std::vector<StepResult> inputs = {held_out_step(experiment)};
  if (features_.contains(experiment.pde.name)) inputs.push_back(yardstick(experiment).step);
  return inputs;
}

const Judge& Workbench::judge_of(const Entry& entry) {
  const auto& experiment = entry.experiment;
  auto as = experiment;  // what the judge believes in
  as.pde.parameters.update(entry.judged_as);
  if (entry.grid) as.pde.grid = *entry.grid;
  const auto key = write_fields(as.pde).dump() + write_fields(as.data).dump();
  auto& judge = judges_[key];
  if (judge) return *judge;
  const auto pde = make_pde(as.pde);
  as.pde.parameters = experiment.pde.parameters;
  const auto truth = data_of(held_out_step(as)).fields;
  const bool own_grid = as.pde.grid == experiment.pde.grid;
  const auto mean = own_grid ? mean_of(training_data_step(experiment)) : truth.to(torch::kFloat64).mean(0);
  const auto& teacher = load(yardstick(experiment));
  const auto device = options_.device == "models" ? device_ : resolve_device(options_.device);
  judge = std::make_unique<Judge>(pde, teacher.normalizer, truth, mean, device, options_.solved);
  if (poseidon_)
    for (const auto& metric : poseidon_metrics(*poseidon_, *pde)) judge->add(metric);
  if (features_.contains(experiment.pde.name) && own_grid) judge->add(teacher_metric(teacher, *pde));
  if (options_.classifier) judge->add(ClassifierRecipe{});
  return *judge;
}

StepResult Workbench::entry_step(const Entry& entry) {
  const auto trained = model_of(entry);
  json settings = {{"method", entry.method},        {"options", options_of(entry)},
                   {"task", task_name(entry.task)}, {"n", entry.count},
                   {"seed", entry.experiment.seed}, {"decode", entry.decode},
                   {"judged_as", entry.judged_as},  {"judge", write_fields(options_)}};
  settings.update(machine_);
  auto inputs = judge_inputs(entry.experiment);
  inputs.insert(inputs.begin(), trained.step);
  if (entry.model == ModelRole::teacher && entry.teacher_age > 0) settings["teacher_age"] = entry.teacher_age;
  if (entry.grid) settings["grid"] = entry.grid->to_json();
  if (entry.starts > 1) settings["starts"] = entry.starts;
  if (entry.mask_seed) settings["mask_seed"] = *entry.mask_seed;
  if (entry.two_valued) settings["two_valued"] = true;
  if (entry.filter) settings["filter"] = write_fields(*entry.filter);
  return recipe_.step(
      entry.labels.text(), settings, inputs, [&](const fs::path& folder) { compute(entry, trained, folder); },
      [&] {
        return expected_sampling_seconds(entry.experiment, entry.method, options_of(entry), entry.task, entry.count,
                                         device_);
      });
}

const Samples& Workbench::samples_of(const Entry& entry, const Model& model, const Trained& trained) {
  const auto seed = entry.experiment.seed;
  const auto settings = json::array(
      {trained.folder.string(), entry.method, options_of(entry), entry.count, seed, model.pde->grid().to_json()});
  const auto key = settings.dump();
  if (const auto found = samples_.find(key); found != samples_.end()) return found->second;
  if (samples_.size() >= kSamplesInMemory) samples_.clear();
  return samples_[key] =
             make_method(entry.method, Task::generate, model, options_of(entry))->generate(0, entry.count, seed);
}

json Workbench::generated(const Entry& entry, const Model& model, const Trained& trained, TensorMap& kept) {
  const auto used = entry.grid ? on_grid(model, *entry.grid) : model;
  auto samples = samples_of(entry, used, trained);
  if (entry.filter) smooth_samples(samples, *used.pde, *entry.filter);
  const auto decoding = entry.decode ? decode_samples(samples, *used.pde, entry.two_valued) : DecodeSummary{};
  json metrics = judge_of(entry).samples(samples, {static_cast<int>(options_.resamples), entry.experiment.seed});
  if (entry.decode)
    metrics.update(
        {{metric::kDecodeIterations, decoding.iterations_mean}, {metric::kDecodeMoved, decoding.moved_mean}});
  metrics["precision"] = samples.precision;
  kept["x"] = samples.x;
  return metrics;
}

json Workbench::solved(const Entry& entry, const Model& model, TensorMap& kept) {
  const auto seed = entry.experiment.seed;
  const auto truth = held_out(entry.experiment).narrow(0, 0, entry.count);
  const auto observation = observe(entry.task, truth, *model.pde, entry.mask_seed.value_or(seed));
  const auto method = make_method(entry.method, entry.task, model, options_of(entry));
  std::vector<Tensor> errors;
  json metrics;
  for (int64_t start = 0; start < entry.starts; ++start) {
    auto samples = method->solve(observation, seed + static_cast<uint64_t>(start));
    if (entry.decode) decode_samples(samples, *model.pde, entry.two_valued);
    errors.push_back(case_errors(model, samples.x, truth, observation.mask));
    if (start > 0) continue;
    metrics = judge_of(entry).task(samples, truth, observation, {static_cast<int>(options_.resamples), seed});
    metrics["precision"] = samples.precision;
    kept = {{"x", samples.x}, {"truth", truth}, {"mask", observation.mask}};
  }
  if (entry.starts > 1) metrics[metric::kMseVariance] = torch::stack(errors).var(0).mean().item<double>();
  return metrics;
}

void Workbench::compute(const Entry& entry, const Trained& trained, const fs::path& folder) {
  const Model model = load(trained);
  TensorMap kept;
  json metrics = entry.task == Task::generate ? generated(entry, model, trained, kept) : solved(entry, model, kept);
  if (model.training.seconds > 0) metrics[metric::kTrainingSeconds] = model.training.seconds;
  for (auto& [name, x] : kept) x = x.narrow(0, 0, std::min(kKept, x.size(0))).contiguous();
  write_safetensors(folder / "kept.safetensors", kept);
  write_json_file(folder / "metrics.json", result_format(), metrics);
}

std::optional<Result> Workbench::result(const Entry& entry) {
  const auto reason = method_card(entry.method).refusal(entry.task, *make_pde(entry.experiment.pde));
  if (!reason.empty()) return Result{.refused = reason};
  try {
    const auto step = entry_step(entry);
    if (!step.done) return std::nullopt;
    return of_step(step.folder,
                   [&] { return result_from(read_json_file(step.folder / "metrics.json", result_format())); });
  } catch (const NumericsError& error) {
    return Result{.failed = error.what()};
  }
}

TensorMap Workbench::fields(const Entry& entry) {
  const auto found = result(entry);
  if (!found || !found->done()) return {};
  const auto folder = entry_step(entry).folder;
  return of_step(folder, [&] { return read_safetensors(folder / "kept.safetensors").tensors; });
}

Scores Workbench::floor(const Experiment& experiment, int64_t n) {
  const auto seed = experiment.seed;
  const json settings = {{"n", n}, {"seed", seed}, {"judge", write_fields(options_)}};
  const auto step =
      recipe_.step("floor " + experiment.pde.name, settings, judge_inputs(experiment), [&](const fs::path& folder) {
        const json floor = judge_of({.labels = {}, .experiment = experiment}).floor(n, seed);
        write_json_file(folder / "metrics.json", result_format(), floor);
      });
  if (!step.done) return {};
  return of_step(step.folder,
                 [&] { return read_json_file(step.folder / "metrics.json", result_format()).get<Scores>(); });
}

Tensor Workbench::held_out(const Experiment& experiment) {
  const auto step = held_out_step(experiment);
  return step.done ? data_of(step).fields : Tensor();
}

}  // namespace piddm
