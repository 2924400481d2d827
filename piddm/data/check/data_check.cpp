#include "piddm/data/check/data_check.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "piddm/core/stopwatch.h"
#include "piddm/data/check/diagnosis.h"
#include "piddm/data/check/law_check.h"
#include "piddm/data/check/own_floor.h"
#include "piddm/data/check/parameter_fit.h"
#include "piddm/data/data_file.h"
#include "piddm/data/statistics.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace {

constexpr double kFloorFactor = 2, kPointFactor = 10, kLargestZ = 5, kConstraintLimit = 1e-5;
constexpr double kParameterTolerance = 1e-3, kParameterErrors = 5, kSameCoefficient = 1e-6;
constexpr int64_t kBatch = 64, kFewestForLaw = 16, kFirst = 64, kOutstanding = 16, kTimed = 4, kFitted = 16, kWorst = 5;

double count(const Tensor& condition) { return static_cast<double>(condition.sum().item<int64_t>()); }

class Check {
 public:
  Check(const Dataset& data, const Pde& pde, const CheckOptions& options) : data_(data), pde_(pde), options_(options) {}

  CheckReport run() {
    check_digest();
    if (check_finite_values()) {
      report_.channels = data_.channels;
      report_.statistics = channel_statistics(data_.fields);
      check_values();
      check_seed();
      check_law();
      statistics_ = residual_statistics(pde_, data_.fields);
      constraint_ = constraint_error(pde_, data_.fields);
      own_ = compare_with_references(pde_, data_.fields, choose_samples());
      check_means();
      check_samples();
      check_parameters();
      check_constraint();
      if (options_.explain && equation_fails()) report_.reasons = diagnose(pde_, data_.fields, import_of_file());
    }
    report_.n = data_.size();
    report_.resolved = static_cast<int64_t>(own_.samples.size());
    return std::move(report_);
  }

 private:
  void add(const std::string& name, double value, std::optional<double> limit, const std::string& note = "") {
    report_.checks.push_back({.name = name, .value = value, .limit = limit, .note = note});
  }

  /// Samples ([N] bool) for which something does not hold: none may.
  void add_count(const std::string& name, const Tensor& bad) {
    const double bad_samples = count(bad);
    const auto note = bad_samples == 0 ? "" : fmt::format("first: sample {}", bad.nonzero()[0].item<int64_t>());
    add(name, bad_samples, 0, note);
  }

  void check_digest() {
    if (options_.file.empty()) return;
    const auto kept = read_digest(options_.file);
    if (!kept.empty()) add("SHA-256 other than the one kept", sha256_file(options_.file) == kept ? 0 : 1, 0);
  }

  bool check_finite_values() {
    const auto broken = data_.fields.isfinite().logical_not();
    const auto at = broken.nonzero();
    std::string note;
    if (at.size(0) > 0)
      note = fmt::format("first: channel '{}', sample {}",
                         data_.channels[static_cast<size_t>(at[0][1].item<int64_t>())], at[0][0].item<int64_t>());
    add("non-finite values", static_cast<double>(at.size(0)), 0, note);
    return at.size(0) == 0;
  }

  void check_values() {
    for (size_t c = 0; c < pde_.channels().size(); ++c) {
      const auto& channel = pde_.channels()[c];
      const auto x = data_.fields.select(1, static_cast<int64_t>(c));
      if (channel.two_valued) {
        const auto [low, high] = *channel.two_valued;
        add_count(fmt::format("{}: samples with values other than {} and {}", channel.name, low, high),
                  x.ne(low).logical_and(x.ne(high)).flatten(1).any(1));
      }
      if (channel.scalar)
        add_count(channel.name + ": samples in which it is not constant",
                  x.ne(x.slice(1, 0, 1).slice(2, 0, 1)).flatten(1).any(1));
    }
    std::vector<Tensor> changed;
    for (int64_t first = 0; first < data_.size(); first += kBatch) {
      const auto a = pde_.coefficients(data_.fields.slice(0, first, first + kBatch)).to(torch::kFloat64);
      const auto size = a.square().mean({2, 3}, true).sqrt();
      const auto moved = (pde_.admissible(a).coefficients - a).abs();
      changed.push_back(moved.gt(kSameCoefficient * size).flatten(1).any(1));
    }
    add_count("samples with inadmissible coefficients", torch::cat(changed));
  }

  void check_seed() {
    const auto& d = data_.description;
    if (d.law.empty() || !d.seed || !d.first) return;
    const auto other = count_other_coefficients(pde_, data_.fields, *d.seed, *d.first);
    add(fmt::format("coefficients other than those of seed {}", *d.seed), static_cast<double>(other), 0);
  }

  void check_law() {
    const bool judged = !data_.description.law.empty() && data_.size() >= kFewestForLaw;
    for (const auto& score : compare_with_law(pde_, data_.fields))
      add(fmt::format("{}: {}, |z| against the law", score.channel, score.statistic), std::abs(score.z),
          judged ? std::optional(kLargestZ) : std::nullopt, fmt::format("{:.4g}, law {:.4g}", score.data, score.law));
  }

  double seconds_per_sample() const {
    const int64_t n = std::min(kTimed, data_.size());
    const auto x = data_.fields.narrow(0, 0, n).to(torch::kFloat64);
    const Stopwatch watch;
    try {
      reference_samples(pde_, x);
    } catch (const Error&) {
      return 0;  // told by compare_with_references
    }
    return watch.seconds() / static_cast<double>(n);
  }

  std::vector<int64_t> choose_samples() {
    const int64_t n = data_.size();
    std::set<int64_t> chosen;
    const bool every = options_.all || n <= kFirst || seconds_per_sample() * static_cast<double>(n) <= options_.seconds;
    for (int64_t i = 0; i < (every ? n : kFirst); ++i) chosen.insert(i);
    if (every) return {chosen.begin(), chosen.end()};
    std::vector<Tensor> scores = {statistics_.boundary, constraint_};
    for (const auto& e : statistics_.equations) scores.insert(scores.end(), {e.pde_error, e.residual, e.peak});
    for (const auto& score : scores) {
      if (!score.defined()) continue;
      const auto order = score.argsort(0, true);
      for (int64_t k = 0; k < std::min(kOutstanding, n); ++k) chosen.insert(order[k].item<int64_t>());
    }
    return {chosen.begin(), chosen.end()};
  }

  void check_means() {
    const bool known = !own_.floor.equations.empty();
    const auto values = residual_scores(pde_, statistics_);
    const auto floors = known ? residual_scores(pde_, own_.floor) : values;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto& [name, value] = values[i];
      const double floor = floors[i].second;
      const double factor = name.starts_with("pde_error") ? kFloorFactor * kFloorFactor : kFloorFactor;
      add(name, value, known ? std::optional(factor * floor) : std::nullopt,
          known ? fmt::format("floor {:.4g}", floor) : "no floor");
    }
    if (statistics_.boundary.defined()) add("boundary error, mean square", statistics_.mean_boundary_error(), {});
  }

  /// The largest of a score over the samples; remembers which samples it speaks against.
  void add_score(const std::string& name, const Tensor& score, double limit) {
    const auto worst = score.argmax().item<int64_t>();
    const double beyond = count(score.le(limit).logical_not());
    auto note = fmt::format("sample {}", own_.samples[static_cast<size_t>(worst)]);
    if (beyond > 0) note += fmt::format("; {:.0f} of {} beyond", beyond, score.size(0));
    if (!own_.failure.empty()) note += "; " + own_.failure;
    add(name, score[worst].item<double>(), limit, note);
    const auto severity = score / limit;
    if (!severity_.defined()) severity_ = torch::zeros_like(severity);
    blamed_.resize(own_.samples.size());
    for (int64_t k = 0; k < severity.size(0); ++k) {
      if (severity[k].item<double>() <= severity_[k].item<double>()) continue;
      severity_[k] = severity[k];
      blamed_[static_cast<size_t>(k)] = name;
    }
  }

  void check_samples() {
    if (own_.samples.size() < static_cast<size_t>(data_.size()))
      add("samples solved again", static_cast<double>(own_.samples.size()), {},
          "the first ones and those that stand out; --all takes every one");
    add_score("worst residual over that of u*(a)", own_.residual, kFloorFactor);
    if (statistics_.boundary.defined())
      add_score("worst boundary error over that of u*(a)", own_.boundary, kFloorFactor);
    add_score("worst hard constraint over that of u*(a)", own_.constraint, kFloorFactor);
    add_score("worst distance to u*(a), relative", own_.distance, options_.tolerance);
    add_score("worst distance at one point, relative", own_.point, kPointFactor * options_.tolerance);
    const auto order = severity_.argsort(0, true);
    for (int64_t k = 0; k < std::min(kWorst, order.size(0)); ++k) {
      const auto at = static_cast<size_t>(order[k].item<int64_t>());
      report_.worst.push_back({.sample = own_.samples[at],
                               .severity = severity_[order[k].item<int64_t>()].item<double>(),
                               .check = blamed_[at]});
    }
  }

  void check_parameters() {
    if (!own_.failure.empty()) return;
    const auto x = data_.fields.slice(0, 0, kFitted).to(torch::kFloat64);
    Tensor references;
    for (const auto& parameter : pde_.parameters()) {
      if (!parameter.choices.empty() || parameter.length) continue;
      if (!references.defined()) references = reference_samples(pde_, x);
      add_fit(parameter, fit_parameter(pde_, parameter, x, references));
    }
  }

  void add_fit(const Parameter& parameter, const ParameterFit& fit) {
    const double declared = parameter.value.get<double>();
    const auto name = fmt::format("parameter {}: fitted - declared", parameter.name);
    if (!fit.visible) return add(name, 0, {}, "the residual does not show it");
    if (!fit.determined) return add(name, std::numeric_limits<double>::infinity(), 0, "no value fits the data");
    const double limit =
        std::max(kParameterTolerance * std::max(std::abs(declared), 1e-3), kParameterErrors * fit.standard_error);
    add(name, std::abs(fit.value - declared), limit,
        fmt::format("fitted {:.6g} +- {:.1g}, declared {:.6g}", fit.value, fit.standard_error, declared));
    report_.checks.back().constant = {fit.value, fit.standard_error, declared};
  }

  /// RMS of the smallest solution channel that the given constraint can change, or of all where it changes none: [B].
  Tensor constrained_size(const Tensor& x) const {
    const auto squares = pde_.solution(x).square().mean({2, 3});
    const auto touched = pde_.solution(options_.constraint->constrained(x).unsqueeze(0)).flatten(2).any(2);
    const bool any = touched.any().item<bool>();
    return (any ? squares.masked_fill(touched.logical_not(), INFINITY) : squares).amin(1).sqrt().clamp_min(1e-300);
  }

  void check_constraint() {
    if (!options_.constraint) return;
    double worst = 0;
    int64_t sample = 0;
    for (int64_t first = 0; first < data_.size(); first += kBatch) {
      const auto x = data_.fields.slice(0, first, first + kBatch).to(torch::kFloat64);
      const auto error = options_.constraint->error(x).sqrt() / constrained_size(x);
      const auto at = error.argmax().item<int64_t>();
      if (error[at].item<double>() <= worst) continue;
      worst = error[at].item<double>();
      sample = first + at;
    }
    add("worst given constraint, relative", worst, kConstraintLimit, fmt::format("sample {}", sample));
  }

  /// What the advice to import again begins with.
  std::string import_of_file() const {
    const auto file = options_.file.empty() ? "FILE" : options_.file.string();
    return options_.pde.empty() ? file : file + " --pde " + options_.pde;
  }

  /// Whether samples are no solutions of the PDE, in the mean or one of them.
  bool equation_fails() const {
    return std::any_of(report_.checks.begin(), report_.checks.end(), [](const CheckResult& check) {
      const auto is = [&](const char* name) { return check.name.starts_with(name); };
      return !check.pass() && (is("pde_error") || is("rel_residual") || is("worst residual") || is("worst boundary") ||
                               is("worst distance"));
    });
  }

  const Dataset& data_;
  const Pde& pde_;
  const CheckOptions& options_;
  ResidualStatistics statistics_;
  Tensor constraint_;  // [N], relative violation of the PDE's hard constraint
  OwnFloor own_;
  Tensor severity_;                  // [K]
  std::vector<std::string> blamed_;  // the check behind it
  CheckReport report_;
};

}  // namespace

CheckReport check_dataset(const Dataset& dataset, const Pde& pde, const CheckOptions& options) {
  const torch::NoGradGuard no_grad;
  check_fields(dataset, pde);
  return Check(dataset, pde, options).run();
}

}  // namespace piddm
