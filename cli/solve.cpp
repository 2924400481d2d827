#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/samples.h"
#include "piddm/core/config.h"
#include "piddm/core/log.h"
#include "piddm/eval/ensembles/conformal.h"
#include "piddm/eval/ensembles/spread_factors.h"
#include "piddm/eval/summary.h"
#include "piddm/plot/ensemble_plot.h"
#include "piddm/solve/data_fit.h"
#include "piddm/solve/ensemble.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/solve/suggest.h"
#include "piddm/solve/task/observation_file.h"

namespace piddm::cli {

namespace {

constexpr const char* kAutomatic = "auto";
constexpr int64_t kMostMembers = 100'000, kMostSensorsListed = 4'000, kMostSuggested = 1'000;

struct SolveArguments {
  std::string model, task, observe, sensors, method = kAutomatic, out, plot;
  int64_t n = 0, ensemble = 0, suggest = 0;
  std::optional<uint64_t> mask_seed;
  ObserveOptions reveal;
  bool decode = false, two_valued = false, soft = false;
  std::vector<std::string> settings;

  const std::string& known() const { return observe.empty() ? sensors : observe; }
};

json method_options(const SolveArguments& o, const std::string& method, const Model& model) {
  json options = default_options(method, model);
  if (o.ensemble > 0) options.update(method_card(method).draw_options);
  if (o.soft) options["hard"] = false;
  for (const auto& setting : o.settings) apply_setting(options, setting);
  return options;
}

void check_arguments(const Context& context, const SolveArguments& o) {
  check_output(o.out, {".npz", ".safetensors"}, {o.model, o.known()});
  require<UsageError>(o.observe.empty() != o.sensors.empty(), "say what is known: --observe FILE or --sensors FILE");
  require<UsageError>(o.ensemble == 0 || o.ensemble >= 2, "--ensemble: at least 2 members, got {}", o.ensemble);
  require<UsageError>(o.suggest == 0 || o.ensemble > 0, "--suggest ranks places by an ensemble: add --ensemble K");
  if (o.plot.empty()) return;
  require<UsageError>(o.ensemble > 0, "--plot draws an ensemble: add --ensemble K, or draw the file with `piddm plot`");
  check_picture(context, o.plot, {o.model, o.known(), o.out});
}

ObservationFile read_known(const SolveArguments& o, const Pde& pde, uint64_t mask_seed) {
  const auto task = o.task.empty() ? std::optional<Task>() : parse_solve_task(o.task);
  auto file = read_observation(o.known(), task, pde, mask_seed, o.reveal, o.n);
  if (!task) spdlog::info("task: {}, by the channels that {} has", task_name(file.task), o.known());
  if (const int64_t cases = file.observation.mask.size(0); cases < o.n)
    spdlog::warn("--n {}: {} has only {} cases", o.n, o.known(), cases);
  return file;
}

/// The method that is named, or the best for this problem of those that take the options given.
ChosenMethod chosen_method(const SolveArguments& o, const ObservationFile& file, const Model& model) {
  if (o.method != kAutomatic) return {o.method, ""};
  json given = json::object();
  if (o.soft) given["hard"] = false;
  for (const auto& setting : o.settings) apply_setting(given, setting);
  auto chosen = choose_method(problem_of(model, file.task, file.observation, o.ensemble > 0), given);
  spdlog::info("method: {}: {}", chosen.name, chosen.reason);
  return chosen;
}

MethodPtr method_for(const SolveArguments& o, const std::string& name, Task task, const Model& model) {
  const auto& card = method_card(name);
  if (o.ensemble > 0) {
    const auto reason = card.draw_refusal(task, *model.pde);
    require<UsageError>(reason.empty(), "[{}] no ensemble of it: {}", name, reason);
  }
  return make_method(name, task, model, method_options(o, name, model));
}

/// Warnings go to standard error and into the report.
void warn(json& report, const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) {
    spdlog::warn("{}", warning);
    report["warnings"].push_back(warning);
  }
}

/// Widens the quantiles by what `piddm calibrate --store` found for this method and task.
void widen_intervals(const SolveArguments& o, json& report, EnsembleSummary& summary, const Tensor& members,
                     const Pde& pde) {
  const auto factors = stored_spread(o.model, report.at("method"), report.at("task"));
  if (!factors) return;
  if (o.ensemble < kFewestMembers)
    return warn(report, {fmt::format("--ensemble {}: intervals of {:.0f} % need {} members; they are not widened as "
                                     "the model's calibration asks",
                                     o.ensemble, 100 * kStatedShare, kFewestMembers)});
  widen(summary, members, o.ensemble, *factors, pde);
  for (const auto& [channel, factor] : factors->channels) report["quantiles_widened_by"][channel] = factor;
}

/// chi^2 of the answers; returns what the file keeps of it.
json add_fit(json& report, const Observation& observation, const Tensor& answers, const Model& model) {
  const auto sensors = sensor_fits(observation, answers, *model.pde);
  const auto fits = case_fits(sensors, answers.size(0));
  if (const auto total = total_fit(fits); total.noisy_values > 0) report.update(write_fields(total));
  auto warnings = unusual_values(observation, model.normalizer, *model.pde);
  for (auto& poor : poor_fits(fits)) warnings.push_back(std::move(poor));
  warn(report, warnings);
  json kept = {{"fits", json::array()}, {"sensors", json::array()}};
  for (const auto& fit : fits) kept["fits"].push_back(write_fields(fit));
  if (static_cast<int64_t>(sensors.size()) > kMostSensorsListed) return kept;
  for (const auto& sensor : sensors) {
    auto one = write_fields(sensor);
    one["chi2"] = sensor.chi2();
    kept["sensors"].push_back(std::move(one));
  }
  return kept;
}

/// The next places to measure, into the report and what the file keeps; the lines that people read.
std::string add_suggestions(const SolveArguments& o, json& report, json& kept, const Samples& solved,
                            const Observation& observation, const Model& model) {
  if (o.suggest == 0) return "";
  require<UsageError>(observation.mask.size(0) == 1, "--suggest: for one case at a time; {} has {}, add --n 1",
                      o.known(), observation.mask.size(0));
  const auto sensors = suggest_sensors(solved.x, observation, *model.pde, model.normalizer, o.suggest);
  json list = json::array();
  for (const auto& sensor : sensors) list.push_back(write_fields(sensor));
  report["suggested"] = kept["suggested"] = list;
  return "\n" + sensor_lines(sensors, *model.pde);
}

void solve(const Context& context, const SolveArguments& o) {
  check_arguments(context, o);
  const auto model = load_model(o.model, context.device());
  DecodeTotal decoding(*model.pde, o.two_valued);
  const auto mask_seed = o.mask_seed.value_or(context.seed);
  const auto file = read_known(o, *model.pde, mask_seed);
  const auto chosen = chosen_method(o, file, model);
  const auto method = method_for(o, chosen.name, file.task, model);
  auto solved = method->solve(o.ensemble > 0 ? repeated(file.observation, o.ensemble) : file.observation, context.seed);
  json report = {{"out", o.out},
                 {"task", task_name(file.task)},
                 {"n", file.observation.mask.size(0)},
                 {"method", method->name()},
                 {"seed", context.seed},
                 {"mask_seed", mask_seed},
                 {"precision", solved.precision}};
  if (!chosen.reason.empty()) report["reason"] = chosen.reason;
  if (o.ensemble > 0) report["ensemble"] = o.ensemble;
  if (o.decode || o.two_valued) {
    decoding.decode(solved);
    report["decode"] = write_fields(decoding.summary());
  }
  report.update(json(physics_summary(solved, *model.pde)));
  Tensor answers = solved.x;
  TensorMap arrays;
  if (o.ensemble > 0) {
    auto summary = summarize(solved.x, o.ensemble, *model.pde);
    widen_intervals(o, report, summary, solved.x, *model.pde);
    report.update(json(spread_summary(summary.deviation, *model.pde, model.normalizer)));
    arrays = ensemble_arrays(summary, *model.pde);
    answers = summary.mean;
  }
  if (file.truth.defined()) report.update(json(error_summary(answers, file.truth, *model.pde, model.normalizer)));
  auto kept = add_fit(report, file.observation, answers, model);
  note_divergence(report);
  auto listed = report;
  listed.erase("warnings");  // people have read them
  const auto text = format_report(listed);
  const auto places = add_suggestions(o, report, kept, solved, file.observation, model);
  SampleFile out(o.out, model);
  out.append(solved.x);
  out.write(report, std::move(arrays), kept);
  if (!o.plot.empty())
    report["plot"] = write_picture(draw_ensemble_file(o.out, 0, file.truth), o.plot, picture_style().dpi).string();
  context.print(report, text + places);
}

}  // namespace

void add_solve(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "solve", "Solve forward, inverse and reconstruction problems with any method");
  auto o = std::make_shared<SolveArguments>();
  command->add_option("model", o->model, "run or model folder")->required();
  command->add_option("--task", o->task,
                      "forward, inverse or reconstruct; default: what follows from the channels that are known");
  command->add_option("--observe", o->observe,
                      "what is known: fields (.npz; channels may be missing, unknown entries are NaN) or a list of "
                      "sensors (.csv, .npz; docs/tasks.md)");
  command->add_option("--sensors", o->sensors, "the same: a list of sensors");
  command
      ->add_option("--ensemble", o->ensemble,
                   "draws of the answer to each case, with their mean, standard deviation and quantiles; 0: one answer")
      ->check(whole_number(0, kMostMembers))
      ->capture_default_str();
  command->add_option("--n", o->n, "cases to take from the file; 0: all")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_option("--share", o->reveal.share, "complete files, reconstruct: share of the entries revealed")
      ->check(number_above(0, 1))
      ->capture_default_str();
  command
      ->add_option("--points", o->reveal.points,
                   "complete files: reveal this many random entries of each field channel of the task; 0: off")
      ->check(whole_number(0))
      ->capture_default_str();
  command
      ->add_option("--mask-seed", o->mask_seed,
                   "complete files: seed of the entries revealed, apart from that of the start; default: --seed")
      ->check(seed_number());
  command->add_option("--channels", o->reveal.channels, "complete files: reveal these channels only")->delimiter(',');
  command
      ->add_option("--method", o->method,
                   "see `piddm list methods`; auto: the best known for this PDE, model, task and what is known")
      ->capture_default_str();
  command->add_flag("--soft", o->soft, "do not replace observed entries in the result");
  command->add_flag("--decode", o->decode, "re-solve u for the found coefficients");
  command->add_flag("--two-valued", o->two_valued,
                    "first cut a coefficient that has only two values to them, then decode");
  command
      ->add_option("--set", o->settings,
                   "method options, e.g. task.iterations=40; `piddm list methods` has them all (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--out", o->out, "file to write: .npz or .safetensors")->required();
  command
      ->add_option("--suggest", o->suggest,
                   "places where further sensors would lower the spread of the ensemble most, ranked; 0: none")
      ->check(whole_number(0, kMostSuggested))
      ->capture_default_str();
  command->add_option("--plot", o->plot, "picture of the first case of an ensemble: .png, .svg or .pdf");
  add_picture_options(*command, context);
  command->callback([&context, o] { context.run = [&context, o] { solve(context, *o); }; });
}

}  // namespace piddm::cli
