#include "piddm/recipe/tune.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "piddm/core/config.h"
#include "piddm/core/device.h"
#include "piddm/core/log.h"
#include "piddm/core/rng.h"
#include "piddm/core/stopwatch.h"
#include "piddm/core/table.h"
#include "piddm/eval/metric_registry.h"
#include "piddm/pde/pde_file.h"
#include "piddm/solve/methods/registry.h"

namespace piddm {

namespace {

constexpr int64_t kTruthFirst = 2'000'000, kSampleFirst = 1'000'000;
constexpr uint64_t kTruthSeed = 0;                          // of the data, as in experiments
constexpr int64_t kDrawFirst = int64_t{1} << 40;            // of Stream::splits: far from the splits of floors
constexpr const char *kMeans = "mmse", *kSpreads = "smse";  // name: what keeping the law means here

/// Sets "a.b" in an object of objects.
void set_key(json& options, const std::string& key, const json& value) {
  auto* at = &options;
  size_t from = 0;
  for (size_t dot = key.find('.'); dot != std::string::npos; from = dot + 1, dot = key.find('.', from))
    at = &(*at)[key.substr(from, dot - from)];
  (*at)[key.substr(from)] = value;
}

json drawn_value(const SearchAxis& axis, double u) {
  if (!axis.choices.empty())
    return axis
        .choices[std::min(axis.choices.size() - 1, static_cast<size_t>(u * static_cast<double>(axis.choices.size())))];
  const double value = axis.low * std::pow(axis.high / axis.low, u);
  if (axis.whole) return static_cast<int64_t>(std::llround(value));
  return value;
}

/// What all tries are judged by. `model` lends its normaliser, so that all are judged in the same units.
class Validation {
 public:
  Validation(const Model& model, const TuneOptions& options)
      : options_(options),
        pde_(model.pde),
        truth_(pde_->sample(kTruthSeed, kTruthFirst,
                            std::max(options.samples, options.task == Task::generate ? options.held_out : 0))),
        judge_(pde_, model.normalizer, truth_, truth_.mean(0), model.device(), options.samples) {}

  /// What breaks down or is refused becomes a failed result.
  Result run(const std::string& method, const Model& model, const json& options, double& evaluations) const {
    try {
      const auto samples = sample(*make_method(method, options_.task, model, options));
      evaluations += (samples.nfe + samples.backward + samples.recomputed) * static_cast<double>(samples.x.size(0));
      const auto scores =
          options_.task == Task::generate ? judge_.samples(samples) : judge_.task(samples, cases(), observation());
      return {.scores = scores, .diverged = divergence(scores), .precision = samples.precision};
    } catch (const NumericsError& error) {
      return {.failed = error.what()};
    } catch (const UsageError& error) {  // options that do not go together
      return {.failed = error.what()};
    }
  }

  Scores floor() const { return judge_.floor(options_.samples, options_.seed); }

 private:
  Tensor cases() const { return truth_.narrow(0, 0, options_.samples); }
  Observation observation() const { return observe(options_.task, cases(), *pde_, options_.seed); }
  Samples sample(Method& method) const {
    if (options_.task == Task::generate) return method.generate(kSampleFirst, options_.samples, options_.seed);
    return method.solve(observation(), options_.seed);
  }

  const TuneOptions& options_;
  PdePtr pde_;
  Tensor truth_;
  Judge judge_;
};

double mean_square_error(const Scores& scores) {
  double sum = 0;
  int64_t n = 0;
  for (const auto& [key, value] : scores.values)
    if (const auto* card = find_metric(key); card && card->name == "mse") sum += value, ++n;  // name: the tasks' score
  return n == 0 ? NAN : sum / static_cast<double>(n);
}

/// The score, and whether the try may be chosen.
void judge_try(Try& tried, const TuneReport& report) {
  tried.score = NAN;
  if (!tried.result.done()) return;
  const auto& scores = tried.result.scores;
  const bool generation = report.options.task == Task::generate;
  tried.score = generation ? scores.at(report.options.metric) : mean_square_error(scores);
  tried.admissible = tried.result.diverged.empty() && std::isfinite(tried.score);
  if (!generation) return;
  for (const char* law : {kMeans, kSpreads})
    if (!(scores.at(law) <= report.options.keep * std::max(report.plain.at(law), report.floor.at(law))))
      tried.admissible = false;
}

/// Numbers of the tries, those that may be chosen first, by their scores.
std::vector<size_t> ranking(const std::vector<Try>& tries) {
  std::vector<size_t> order(tries.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](size_t i) {
    return std::pair(!tries[i].admissible, std::isfinite(tries[i].score) ? tries[i].score : INFINITY);
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return order;
}

void check_same_pde(const std::string& name, const Pde& pde, const Pde& other) {
  const auto difference = pde_difference(other.options(), pde.options());
  require<UsageError>(difference.empty(), "tune: {} is of another PDE than the others: {}", name, difference);
  require<UsageError>(write_fields(pde.options()) == write_fields(other.options()),
                      "tune: {} is of another PDE or grid than the others", name);
}

void check(const std::vector<TunedModel>& models, const Model& plain, const TuneOptions& o) {
  const auto& card = method_card(o.method);
  require<UsageError>(!models.empty(), "tune: needs a model");
  for (const auto& [name, model] : models) {
    require<UsageError>(!o.method.empty() && !card.search(model, o.task).empty(), "[{}] has nothing to tune in {}",
                        o.method, task_name(o.task));
    check_same_pde(name, *model.pde, *plain.pde);
    make_method(o.method, o.task, model, o.settings);  // for its errors
  }
  const auto* metric = find_metric(o.metric);
  require<UsageError>(metric && lower_is_better(o.metric) && (metric->judged & kSamplesJudged) != 0,
                      "metric: '{}' is not one of samples of which less is better (piddm list metrics)", o.metric);
}

}  // namespace

json drawn_options(const SearchFamily& family, uint64_t seed, int64_t number) {
  json options = family.fixed;
  if (number == 0 || family.axes.empty()) return options;
  const auto u = uniform(seed, Stream::splits, kDrawFirst + number, 1, {static_cast<int64_t>(family.axes.size())},
                         torch::kFloat64);
  for (size_t i = 0; i < family.axes.size(); ++i)
    set_key(options, family.axes[i].key, drawn_value(family.axes[i], u[0][static_cast<int64_t>(i)].item<double>()));
  return options;
}

TuneReport tune(const std::vector<TunedModel>& models, const TuneOptions& options, const std::optional<Model>& plain) {
  check_bounds(options);
  require<UsageError>(!models.empty(), "tune: needs a model");
  const auto& reference = plain ? *plain : models.front().model;
  check(models, reference, options);
  const Stopwatch watch;
  std::vector<std::pair<const TunedModel*, SearchFamily>> turns;
  for (const auto& tuned : models)
    for (auto& family : method_card(options.method).search(tuned.model, options.task))
      turns.emplace_back(&tuned, std::move(family));
  const Validation validation(reference, options);
  TuneReport report{.options = options, .pde = reference.pde->name()};
  if (options.task == Task::generate) {
    const auto own = default_method(reference);
    double uncounted = 0;
    report.plain = validation.run(own, reference, default_options(own, reference), uncounted).scores;
    report.floor = validation.floor();
  }
  for (int64_t i = 0; i < options.budget; ++i) {
    const auto& [tuned, family] = turns[static_cast<size_t>(i) % turns.size()];
    Try tried{.model = tuned->name, .family = family.name, .options = default_options(options.method, tuned->model)};
    merge_config(tried.options, options.settings);
    merge_config(tried.options, drawn_options(family, options.seed, i / static_cast<int64_t>(turns.size())));
    tried.result = validation.run(options.method, tuned->model, tried.options, report.evaluations);
    judge_try(tried, report);
    spdlog::info("[tune] {} of {}: {} {} {}: {}", i + 1, options.budget, tried.model, family.name, tried.options.dump(),
                 tried.admissible ? format_number(tried.score) : "may not be chosen");
    report.tries.push_back(std::move(tried));
  }
  const auto best = ranking(report.tries).front();
  report.chosen = report.tries[best].admissible ? best : report.tries.size();
  report.seconds = watch.seconds();
  return report;
}

json to_json(const TuneReport& report) {
  json tries = json::array();
  for (const auto& tried : report.tries)
    tries.push_back({{"model", tried.model},
                     {"family", tried.family},
                     {"options", tried.options},
                     {"score", tried.score},
                     {"admissible", tried.admissible},
                     {"result", to_json(tried.result)}});
  const bool found = report.chosen < report.tries.size();
  json out = {{"pde", report.pde},
              {"options", write_fields(report.options)},
              {"validation", {{"seed", kTruthSeed}, {"first", kTruthFirst}, {"first_sample", kSampleFirst}}},
              {"tries", tries},
              {"chosen", found ? report.tries[report.chosen].options : json()},
              {"chosen_model", found ? json(report.tries[report.chosen].model) : json()},
              {"evaluations", report.evaluations},
              {"seconds", report.seconds},
              {"machine", describe_machine()}};
  if (report.options.task == Task::generate) out.update({{"plain", report.plain}, {"floor", report.floor}});
  return out;
}

std::string format_tune(const TuneReport& report) {
  const bool generation = report.options.task == Task::generate;
  std::vector<std::string> header = {"model", "family", "options", generation ? report.options.metric : "mean mse"};
  if (generation) header.insert(header.end(), {kMeans, kSpreads});
  header.emplace_back("chosen");
  Table table(header, {});
  for (const size_t i : ranking(report.tries)) {
    const auto& tried = report.tries[i];
    const bool diverged = !tried.result.diverged.empty();
    std::vector<std::string> cells = {tried.model, tried.family, tried.options.dump(),
                                      diverged                      ? kDiverged
                                      : tried.result.failed.empty() ? format_number(tried.score)
                                                                    : "failed"};
    if (generation)
      for (const char* law : {kMeans, kSpreads}) cells.push_back(score_text(tried.result.scores, law, diverged));
    cells.emplace_back(i == report.chosen ? "yes" : tried.admissible ? "" : "may not be");
    table.add_row(cells);
  }
  std::string text = table.text() + "\n";
  if (report.chosen == report.tries.size()) return text + "none of the tries may be chosen\n";
  const auto& chosen = report.tries[report.chosen];
  return text + fmt::format("chosen: {}; for `reproduce`: --set 'by_method.{}={}'\n", chosen.model,
                            report.options.method, chosen.options.dump());
}

}  // namespace piddm
