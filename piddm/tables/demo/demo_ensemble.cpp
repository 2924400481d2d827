#include "piddm/tables/demo/demo_ensemble.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "piddm/core/config.h"
#include "piddm/core/input_file.h"
#include "piddm/data/data_file.h"
#include "piddm/data/dataset.h"
#include "piddm/data/generate.h"
#include "piddm/eval/summary.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"
#include "piddm/plot/ensemble_plot.h"
#include "piddm/plot/picture_file.h"
#include "piddm/solve/data_fit.h"
#include "piddm/solve/ensemble.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/solve/task/observation_file.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kSensors = 40, kMembers = 64;
constexpr double kNoise = 0.05;  // of a channel's standard deviation
// Of a search: enough for the mean to come near the noise of the sensors, half of the default.
constexpr int64_t kIterations = 40;
constexpr size_t kMostBytes = size_t{1} << 32;
constexpr const char *kSensorFile = "sensors.csv", *kEnsembleFile = "ensemble.npz", *kEnsembleSheet = "ensemble";

std::vector<std::string> measured_channels(const Pde& pde) {
  std::vector<std::string> names;
  for (const auto& channel : pde.channels())
    if (channel.role == Role::solution && !channel.scalar) names.push_back(channel.name);
  return names;
}

/// Values of random entries of the truth [1,C,H,W] with noise, as a sensor list.
std::string sensor_list(const Tensor& truth, const Model& model, uint64_t seed) {
  const auto& pde = *model.pde;
  const auto names = measured_channels(pde);
  const auto each = std::max<int64_t>(1, kSensors / static_cast<int64_t>(names.size()));
  const auto mask = observe(Task::inverse, truth, pde, seed, {.points = each, .channels = names}).mask;
  const auto noise = normal(seed, Stream::sensor_noise, 0, 1, pde.sample_shape(), torch::kFloat64);
  std::string text = "channel,i,j,value,sigma\n";
  const auto places = mask.nonzero();
  for (int64_t k = 0; k < places.size(0); ++k) {
    const auto at = [&](int64_t d) { return places[k][d].item<int64_t>(); };
    const auto& channel = pde.channels()[static_cast<size_t>(at(1))];
    const double sigma = kNoise * model.normalizer.std(at(1));
    const auto entry = [&](const Tensor& x) { return x[0][at(1)][at(2)][at(3)].item<double>(); };
    text +=
        fmt::format("{},{},{},{:.9g},{:.9g}\n", channel.name, at(2), at(3), entry(truth) + sigma * entry(noise), sigma);
  }
  return text;
}

/// What a method is told, on top of the student's own options: a search is cut short.
json shortened(const ChosenMethod& chosen) {
  if (chosen.name != own_method(ModelKind::student)) return json::object();
  return {{"task", {{"iterations", kIterations}}}};
}

/// Members, statistics and sensors in one file, as `solve` writes them; without a clock, so that the same demo makes
/// the same file.
void write_ensemble(const fs::path& file, const Model& model, const Tensor& members, const EnsembleSummary& summary,
                    const std::vector<SensorFit>& sensors, json report) {
  report.erase("seconds_per_sample");
  const auto channels = model.pde->channel_names();
  check_finite(members, channels, file.string());
  auto description = declared_pde(*model.pde);
  description.origin = report;
  description.more["sensors"] = json::array();
  for (const auto& sensor : sensors) description.more["sensors"].push_back(write_fields(sensor));
  DataFile out{ensemble_arrays(summary, *model.pde),
               write_description(description, channels, members.size(0), model.pde->grid(), members.scalar_type())};
  for (size_t c = 0; c < channels.size(); ++c)
    out.arrays.emplace(channels[c], members.select(1, static_cast<int64_t>(c)).contiguous());
  write_data_file(file, out);
}

void make_ensemble(const Model& model, const Tensor& truth, uint64_t seed, const fs::path& folder) {
  const auto& pde = *model.pde;
  write_file_atomically(folder / kSensorFile, sensor_list(truth, model, seed));
  const auto file = read_observation(folder / kSensorFile, {}, pde, seed);
  const auto chosen = choose_method(problem_of(model, file.task, file.observation, true));
  auto options = default_options(chosen.name, model);
  options.update(method_card(chosen.name).draw_options);
  merge_config(options, shortened(chosen));
  const auto solved =
      make_method(chosen.name, file.task, model, options)->solve(repeated(file.observation, kMembers), seed);
  const auto summary = summarize(solved.x, kMembers, pde);
  const auto sensors = sensor_fits(file.observation, summary.mean, pde);
  json report = {
      {"method", chosen.name}, {"reason", chosen.reason},  {"task", task_name(file.task)}, {"ensemble", kMembers},
      {"seed", seed},          {"sensors", sensors.size()}};
  report.update(write_fields(total_fit(case_fits(sensors, 1))));
  report.update(json(physics_summary(solved, pde)));
  report.update(json(spread_summary(summary.deviation, pde, model.normalizer)));
  report.update(json(error_summary(summary.mean, truth, pde, model.normalizer)));
  write_ensemble(folder / kEnsembleFile, model, solved.x, summary, sensors, report);
  write_json_file(folder / "metrics.json", result_format(), report);
}

}  // namespace

DemoEnsemble make_demo_ensemble(Workbench& bench, const Entry& entry, const fs::path& out, torch::Device device) {
  const auto folder = bench.model_folder(entry);
  const auto seed = entry.experiment.seed;
  const auto truth = bench.held_out(entry.experiment).narrow(0, 0, 1);
  const json settings = {{"sensors", kSensors}, {"members", kMembers},       {"noise", kNoise},
                         {"seed", seed},        {"iterations", kIterations}, {"device", device.str()}};
  Recipe recipe(out);
  const auto step = recipe.step(
      "ensemble " + entry.experiment.pde.name, settings, {{.key = folder.filename().string(), .folder = folder}},
      [&](const fs::path& made) { make_ensemble(load_model(folder, device), truth, seed, made); });
  for (const char* file : {kSensorFile, kEnsembleFile})
    write_file_atomically(out / file, read_file(step.folder / file, kMostBytes));
  write_sheet(draw_ensemble_file(out / kEnsembleFile, 0, truth), out, kEnsembleSheet);
  DemoEnsemble made;
  made.scores = of_step(step.folder, [&] { return read_json_file(step.folder / "metrics.json", result_format()); });
  made.method = made.scores.at("method");
  made.reason = made.scores.at("reason");
  made.sensors = made.scores.at("sensors");
  made.members = made.scores.at("ensemble");
  made.channels = fmt::format("{}", fmt::join(measured_channels(*make_pde(entry.experiment.pde)), ", "));
  made.arguments = fmt::format("--method {} --ensemble {}", made.method, made.members);
  const auto options = shortened({made.method, made.reason}).flatten();
  for (const auto& [key, value] : options.items()) {
    auto name = key.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    made.arguments += fmt::format(" --set {}={}", name, value.dump());
  }
  if (seed != 0) made.arguments += fmt::format(" --seed {}", seed);
  return made;
}

json to_json(const DemoEnsemble& ensemble) { return ensemble.scores; }

std::string describe_ensemble(const DemoEnsemble& ensemble) {
  return fmt::format("{} sensors of {} with {:.0f} % noise, {} draws by `{}` ({}): chi^2 of their mean {:.3g}.\n",
                     ensemble.sensors, ensemble.channels, 100 * kNoise, ensemble.members, ensemble.method,
                     ensemble.reason, ensemble.scores.at("chi2").get<double>());
}

std::string ensemble_command(const DemoEnsemble& ensemble, const fs::path& out) {
  const auto at = [&](const std::string& name) { return (out / name).string(); };
  return fmt::format("piddm solve {} --sensors {} {} --out {} --plot {}", at("student"), at(kSensorFile),
                     ensemble.arguments, at(kEnsembleFile), at(picture_name(kEnsembleSheet)));
}

}  // namespace piddm
