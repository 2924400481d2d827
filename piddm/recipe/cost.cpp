#include "piddm/recipe/cost.h"

#include <algorithm>
#include <map>

#include "piddm/core/stopwatch.h"
#include "piddm/model/network_registry.h"
#include "piddm/solve/methods/registry.h"

namespace piddm {

namespace {

constexpr int kRepeats = 3;
constexpr int64_t kCalibrationData = 4;

int64_t calibration_batch(const Experiment& experiment, torch::Device device) {
  return std::min<int64_t>(experiment.train.batch, device.is_cuda() ? 64 : 4);
}

/// An untrained model of the experiment's sizes.
Model untrained(const Experiment& experiment) {
  Model model;
  model.pde = make_pde(experiment.pde);
  model.network = network_from(experiment.model, model.pde->num_channels(), 0);
  return model;
}

double median_seconds(torch::Device device, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i <= kRepeats; ++i) {  // the first one warms up
    const Stopwatch watch;
    work();
    if (device.is_cuda()) torch::cuda::synchronize();
    if (i > 0) seconds.push_back(watch.seconds());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

NetworkRates time_network(const Experiment& experiment, Precision precision, torch::Device device) {
  const auto model = untrained(experiment);
  auto& network = *model.network;
  network.to(device);
  network.set_precision(precision);
  const int64_t batch = calibration_batch(experiment, device);
  auto shape = model.pde->sample_shape();
  shape.insert(shape.begin(), batch);
  const auto x = torch::randn(shape, device);
  const auto t = torch::full({1}, 0.5, device);
  NetworkRates rates{};
  rates.forward = median_seconds(device, [&] {
    torch::NoGradGuard no_grad;
    network(x, t);
  });
  rates.gradient = median_seconds(device, [&] { network(x, t).square().mean().backward(); });
  const auto samples = static_cast<double>(batch);
  return {rates.forward / samples, rates.gradient / samples};
}

double pair_evaluations(const DistillOptions& o, int64_t steps) {
  const auto chunks = (steps + o.pairs.every - 1) / o.pairs.every + o.pairs.pool - 1;
  const int64_t evaluations = evaluations_of(o.pairs.integrator, o.pairs.steps);
  return static_cast<double>((chunks * o.pairs.chunk + o.pairs.held_out) * evaluations);
}

}  // namespace

NetworkRates measure_rates(const Experiment& experiment, Precision precision, torch::Device device) {
  static std::map<std::string, NetworkRates> known;
  const auto key = fmt::format("{} {} {} {} {}", experiment.model.dump(), write_fields(experiment.pde).dump(),
                               experiment.train.batch, static_cast<int>(precision), device.str());
  auto found = known.find(key);
  if (found == known.end()) found = known.emplace(key, time_network(experiment, precision, device)).first;
  return found->second;
}

double expected_data_seconds(const Experiment& experiment, int64_t n) {
  const auto pde = make_pde(experiment.pde);
  const Stopwatch watch;
  pde->sample(0, kHeldOutFirst, kCalibrationData);
  return watch.seconds() * static_cast<double>(n) / static_cast<double>(kCalibrationData);
}

double expected_training_seconds(const Experiment& experiment, bool pidm, torch::Device device) {
  const auto& o = experiment.train;
  const auto rates = measure_rates(experiment, pidm ? experiment.pidm.precision : o.precision, device);
  return static_cast<double>(o.steps * o.batch) * rates.gradient;
}

double expected_distillation_seconds(const Experiment& experiment, torch::Device device) {
  const auto& o = experiment.distill;
  const auto& card = objective_card(o.objective);
  const auto sampling = measure_rates(experiment, Precision::bf16, device);
  const auto training = measure_rates(experiment, o.train.precision, device);
  const auto cost = card.step_cost(o);
  double seconds = static_cast<double>(o.train.steps * o.train.batch) *
                   (cost.forward * training.forward + cost.gradient * training.gradient);
  if (const auto steps = card.steps_with_pairs(o); steps > 0) seconds += pair_evaluations(o, steps) * sampling.forward;
  if (card.rounds == 0) return seconds;
  const auto round = training_of_round(std::get<ReflowOptions>(o.own), o.train);
  return seconds + static_cast<double>(card.rounds) * (static_cast<double>(round.steps * round.batch) *
                                                           measure_rates(experiment, round.precision, device).gradient +
                                                       pair_evaluations(o, round.steps) * sampling.forward);
}

double expected_sampling_seconds(const Experiment& experiment, const std::string& method, const json& options,
                                 Task task, int64_t n, torch::Device device) {
  const auto evaluations = method_card(method).evaluations(options, task);
  const auto rates = measure_rates(experiment, Precision::fp32, device);
  return static_cast<double>(n) * (evaluations.forward * rates.forward + evaluations.gradient * rates.gradient);
}

int64_t expected_bytes(const Experiment& experiment) {
  const auto model = untrained(experiment);
  return std::max(experiment.train.batch, experiment.distill.train.batch) * model.bytes_per_sample(true);
}

}  // namespace piddm
