#include "piddm/eval/evaluation.h"

#include <algorithm>

#include "piddm/core/peak_memory.h"
#include "piddm/eval/metric_registry.h"
#include "piddm/eval/poseidon/poseidon.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/solve/task/observation_file.h"

namespace piddm {

namespace {

namespace fs = std::filesystem;

/// A model of the reference's PDE.
Model model_like(const std::string& folder, const Pde& pde, torch::Device device = torch::kCPU) {
  auto model = load_model(folder, device);
  check_declared(declared_pde(*model.pde), pde, folder + " is");
  return model;
}

/// Samples of a file, with the work it says they took.
Samples samples_in(const std::string& file, const Pde& pde) {
  const auto data = load_dataset(file);
  check_declared(data.description, pde, file + " is");
  const json origin = data.description.origin.is_object() ? data.description.origin : json::object();
  const auto work = [&](const char* key) { return origin.value(key, 0.0); };
  return {data.fields, work("nfe"), work("backward"), work("seconds_per_sample"), 0, origin.value("precision", "")};
}

Scores judge_model(const EvaluationOptions& o, const std::string& folder, const Judge& judge, const Pde& pde,
                   torch::Device device, EvaluationResult& out) {
  const double held = PeakMemory(device).mib();  // on a GPU, by the judge
  const auto model = model_like(folder, pde, device);
  const PeakMemory memory(model.device());
  const auto name = default_method(model);
  const auto method = make_method(name, Task::generate, model, default_options(name, model));
  const auto samples = method->generate(0, o.n, o.seed);
  const double peak = std::max(memory.mib() - held, 0.0);
  out.precision[folder] = samples.precision;
  auto scores = judge.samples(samples, {o.resamples, o.seed});
  scores.values[metric::kPeakMemory] = peak;
  if (model.training.seconds > 0) scores.values[metric::kTrainingSeconds] = model.training.seconds;
  return scores;
}

Normalizer normalizer_for(const EvaluationOptions& o, const Dataset& reference, const Pde& pde) {
  for (const auto& candidate : o.inputs)
    if (o.model.empty() && fs::is_directory(candidate)) return model_like(candidate, pde).normalizer;
  if (!o.model.empty()) return model_like(o.model, pde).normalizer;
  return Normalizer::fit(reference.fields, pde.channels());
}

Judge make_judge(const EvaluationOptions& o, const Dataset& reference, const PdePtr& pde, torch::Device device) {
  Judge judge(pde, normalizer_for(o, reference, *pde), reference.fields, reference.fields.to(torch::kFloat64).mean(0),
              device);
  if (!o.poseidon.empty())
    for (const auto& metric : poseidon_metrics(load_poseidon(o.poseidon, device), *pde)) judge.add(metric);
  if (!o.features.empty()) judge.add(teacher_metric(load_model(o.features, device), *pde));
  if (o.classifier) judge.add(ClassifierRecipe{});
  return judge;
}

EvaluationResult judge_samples(const EvaluationOptions& o, const Judge& judge, const Pde& pde, torch::Device device) {
  EvaluationResult out;
  int64_t smallest = o.n;
  const auto judge_file = [&](const std::string& file) {
    const auto samples = samples_in(file, pde);
    if (!samples.precision.empty()) out.precision[file] = samples.precision;
    return judge.samples(samples, {o.resamples, o.seed});
  };
  for (const auto& input : o.inputs) {
    out.inputs.emplace_back(
        input, fs::is_directory(input) ? judge_model(o, input, judge, pde, device, out) : judge_file(input));
    smallest = std::min(smallest, out.inputs.back().second.n);
  }
  out.floor = judge.floor(smallest, o.seed);
  return out;
}

EvaluationResult judge_answers(const EvaluationOptions& o, const Judge& judge, const Pde& pde) {
  std::vector<Samples> members;
  for (const auto& input : o.inputs) {
    require<UsageError>(!fs::is_directory(input), "{}: a model; --task judges files that `piddm solve` has written",
                        input);
    members.push_back(samples_in(input, pde));
  }
  const int64_t cases = members.front().x.size(0);
  const auto file =
      read_observation(o.observe, parse_solve_task(o.task), pde, o.mask_seed.value_or(o.seed), o.reveal, cases);
  require<UsageError>(file.truth.defined(), "{}: does not hold whole samples, so there is no truth to compare with",
                      o.observe);
  EvaluationResult out;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!members[i].precision.empty()) out.precision[o.inputs[i]] = members[i].precision;
    require<DataError>(members[i].x.size(0) == file.truth.size(0), "{}: {} cases, but {} has {}", o.inputs[i],
                       members[i].x.size(0), o.observe, file.truth.size(0));
    out.inputs.emplace_back(o.inputs[i], judge.task(members[i], file.truth, file.observation, {o.resamples, o.seed}));
  }
  if (o.ensemble) out.ensemble = judge.ensemble(members, file.truth, file.observation, {o.resamples, o.seed});
  return out;
}

}  // namespace

void check_options(const EvaluationOptions& o) {
  require<UsageError>(o.n >= 2, "--n {}: distances of sets need at least 2 samples", o.n);
  require<UsageError>(o.resamples >= 0, "--resamples must not be negative");
  require<UsageError>(o.task.empty() == o.observe.empty(), "--task and --observe go together");
  require<UsageError>(!o.ensemble || (!o.task.empty() && o.inputs.size() >= 2),
                      "--ensemble: needs --task and at least 2 files of answers to the same cases");
  require<UsageError>(!o.classifier || o.task.empty(), "--classifier judges generated samples, not answers to a task");
  require<UsageError>(o.task != "generate", "--task generate: leave --task out to judge generated samples");
}

std::pair<Dataset, PdePtr> load_reference(const std::string& file) {
  auto reference = load_dataset(file);
  require<UsageError>(!reference.description.pde.empty(), "{}: does not say which PDE it is of", file);
  auto pde = pde_of(reference);
  return {std::move(reference), std::move(pde)};
}

EvaluationResult evaluate(const EvaluationOptions& o, const Dataset& reference, const PdePtr& pde,
                          torch::Device device) {
  for (const auto& input : o.inputs)  // before samples are made
    require<DataError>(!fs::is_directory(input) || reference.size() >= 4,
                       "{}: {} true samples; the floor needs at least 4", o.reference, reference.size());
  const auto judge = make_judge(o, reference, pde, device);
  return o.task.empty() ? judge_samples(o, judge, *pde, device) : judge_answers(o, judge, *pde);
}

}  // namespace piddm
