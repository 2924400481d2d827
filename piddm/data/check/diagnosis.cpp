#include "piddm/data/check/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/stopwatch.h"
#include "piddm/data/check/hypothesis.h"
#include "piddm/data/check/knob.h"
#include "piddm/data/check/knob_words.h"

namespace piddm {

namespace {

constexpr double kSmallestFloor = 1e-12, kSmallestDistance = 1e-10;  // mean squares that rounding alone may leave
constexpr double kPromising = 0.5;  // share of a distance that a knob must leave at most, were all linear
constexpr double kReach = 4;        // a parameter that is fitted by the distance stays within this factor
constexpr double kBiasing = 1e-6;   // floors of the residual from which on a fit is biased by the discretisation
constexpr double kSeconds = 10;     // of a search for two causes, and of the solves in one by distance
constexpr int64_t kLookedAt = 64, kLargestLook = int64_t{1} << 21, kSearched = 16, kFewestSearched = 4,
                  kLargestSearch = int64_t{1} << 16, kFewSolutions = 3;

double distance(const Reading& reading, const Tensor& solution) {
  const double sum = distance_vector(reading, solution).square().sum().item<double>();
  return std::isfinite(sum) ? sum : INFINITY;
}

Reading first_samples(const Reading& reading, int64_t most, int64_t points) {
  auto part = reading;
  const int64_t n = std::max(kFewestSearched, std::min(most, points / reading.pde->grid().points()));
  part.x = reading.x.slice(0, 0, n);
  return part;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// What a usual sample scores: a few bad ones do not count.
Misfit usual(const Reading& reading) {
  std::vector<double> residuals, boundaries;
  auto one = reading;
  for (int64_t i = 0; i < reading.x.size(0); ++i) {
    one.x = reading.x.narrow(0, i, 1);
    const auto score = misfit(one);
    residuals.push_back(score.residual);
    boundaries.push_back(score.boundary);
  }
  return {.residual = median(residuals), .boundary = median(boundaries)};
}

double usual_distance(const Reading& reading) {
  const auto parts = distance_vector(reading).square().view({reading.x.size(0), -1}).sum(1);
  return parts.median().item<double>() * static_cast<double>(reading.x.size(0));
}

Misfit floored(Misfit misfit, double least = kSmallestFloor) {
  misfit.residual = std::max(misfit.residual, least);
  misfit.boundary = std::max(misfit.boundary, least);
  return misfit;
}

double least(const std::vector<Hypothesis>& found) {
  double best = INFINITY;
  for (const auto& h : found) best = std::min(best, h.left);
  return best;
}

Hypothesis of(const Suspicion& s) {
  const int rank = s.subject == "points" ? 4 : s.subject == "form" ? 2 : 1;
  return {.causes = {s.cause}, .changes = {s.correct}, .rank = rank, .points = s.points};
}

Hypothesis join(Hypothesis a, const Hypothesis& b) {
  a.causes.insert(a.causes.end(), b.causes.begin(), b.causes.end());
  a.changes.insert(a.changes.end(), b.changes.begin(), b.changes.end());
  a.rank = std::max(a.rank, b.rank);
  return a;
}

/// Exact samples of the corrected reading, brought to the points and back.
Reading round_trip(const Reading& corrected, const GridPoints& points) {
  auto back = exact(corrected);
  back.x = spline_resample(*back.pde, spline_resample_to(*back.pde, back.x, points), points);
  return back;
}

class Diagnosis {
 public:
  Diagnosis(const Pde& pde, const Tensor& fields, const std::string& file) : file_(file) {
    whole_ = {.pde = PdePtr(PdePtr(), &pde), .x = fields};
    whole_ = first_samples(whole_, kLookedAt, kLargestLook);
    whole_.x = whole_.x.to(torch::kFloat64);
    search_ = first_samples(whole_, kSearched, kLargestSearch);
  }

  std::vector<Explanation> run() {
    if (!find_floor()) return {};
    before_ = misfit(search_);
    const auto score = usual(search_);
    const bool visible =
        score.residual > kNearFloor * usual_floor_.residual || score.boundary > kNearFloor * usual_floor_.boundary;
    suspicions_ = suspicions(search_, file_);
    knobs_ = knobs_of(*search_.pde);
    std::vector<Hypothesis> found;
    if (visible) found = by_residual();
    if (found.empty()) found = by_distance();
    if (found.empty() && visible) found = pairs(INFINITY);
    if (found.empty() && visible) found = edges();
    return verified(best_of(std::move(found)));
  }

 private:
  /// What exact data score: solutions for the data's own coefficients or, where those cannot be solved or are trivial,
  /// for some of the law.
  bool find_floor() {
    const Stopwatch watch;
    if (take_floor([](const Reading& r) { return exact(r); })) {
      seconds_ = watch.seconds() / static_cast<double>(search_.x.size(0));
      return true;
    }
    return search_.pde->has_law() && take_floor([](const Reading& r) {
             auto drawn = r;
             drawn.x = r.pde->sample(0, 0, r.x.size(0));
             return exact(drawn);
           });
  }

  bool take_floor(const Change& true_samples) {
    auto own = attempt(true_samples, search_);
    if (!own) return false;
    const auto score = misfit(*own);
    if (!std::isfinite(score.residual + score.boundary)) return false;
    whole_.floor = search_.floor = floor_ = floored(score);
    usual_floor_ = floored(usual(*own));
    return true;
  }

  /// What exact data score when read in this way.
  Misfit floor_of(const Reading& reading) const {
    const auto reference = attempt([](const Reading& r) { return exact(r); }, reading);
    return reference ? floored(misfit(*reference)) : floor_;
  }

  /// The hypothesis with what it leaves, if it explains the data.
  std::optional<Hypothesis> judged(Hypothesis h) const {
    const auto corrected = changed(search_, h.changes);
    if (!corrected) return {};
    const auto after = misfit(*corrected);
    h.left = after.total(floor_);
    if (!std::isfinite(h.left)) return {};
    if (h.points) {
      const auto& points = *h.points;
      const auto back = attempt([&](const Reading& r) { return round_trip(r, points); }, *corrected);
      if (!back || !explains(before_, after, floored(misfit(*back)))) return {};
      return h;
    }
    const bool other_form = h.causes.size() == 1 && h.rank == 2 && corrected->pde != search_.pde && !corrected->form;
    if (!other_form && explains(before_, after, floor_)) return h;
    if (h.left > before_.total(floor_) / kNearFloor || after.residual > kMostLeft) return {};
    const auto own = corrected->form ? floor_ : floor_of(*corrected);
    // A form that sees less explains nothing.
    if (other_form && own.residual > kNearFloor * floor_.residual) return {};
    if (!explains(before_, after, own)) return {};
    return h;
  }

  Hypothesis of_knobs(const Reading& reading, const std::vector<Knob>& knobs, const KnobFit& fit) const {
    Hypothesis h;
    for (size_t k = 0; k < knobs.size(); ++k) {
      h.causes.push_back(knob_cause(reading, knobs[k], fit.values[k], file_));
      h.changes.push_back([knob = knobs[k], value = fit.values[k]](const Reading& r) { return knob.apply(r, value); });
      h.rank = std::max(h.rank, knob_rank(reading, knobs[k], fit.values[k]));
    }
    return h;
  }

  /// Adds `before` with these knobs turned as the data fit best, if that explains them. `reading`: after `before`.
  void judge_knobs(const Hypothesis& before, const Reading& reading, const std::vector<Knob>& knobs,
                   std::vector<Hypothesis>& found) const {
    const auto fit = fit_knobs(reading, knobs);
    auto h = judged(join(before, of_knobs(reading, knobs, fit)));
    if (!h) return;
    if (floor_.residual > kBiasing)
      if (auto better = judged(join(before, of_knobs(reading, knobs, without_bias(reading, knobs, fit))))) h = better;
    found.push_back(std::move(*h));
  }

  void judge(Hypothesis h, std::vector<Hypothesis>& found) const {
    if (auto good = judged(std::move(h))) found.push_back(std::move(*good));
  }

  std::vector<Hypothesis> by_residual() const {
    std::vector<Hypothesis> found;
    for (const auto& s : suspicions_) judge(of(s), found);
    for (const auto& knob : knobs_) judge_knobs({}, search_, {knob}, found);
    const double best = least(found);
    const auto parts = static_cast<double>(search_.pde->equations().size());
    if (!found.empty() && best > kNearFloor * (1 + parts)) {
      auto better = pairs(best / kNearFloor);
      found.insert(found.end(), better.begin(), better.end());
    }
    return found;
  }

  /// What may come together with something else: a factor of the solution, a parameter.
  bool main_knob(const Knob& knob) const {
    const bool factor = knob.kind == Knob::Kind::factor && knob.of_solution(*search_.pde);
    const bool few = search_.pde->num_solution_channels() <= kFewSolutions;
    return knob.kind == Knob::Kind::parameter || (factor && (few || knob.count > 1));
  }

  /// Two causes that leave less than this.
  std::vector<Hypothesis> pairs(double most) const {
    std::vector<Hypothesis> found;
    const Stopwatch watch;
    for (size_t i = 0; i < suspicions_.size() && watch.seconds() < kSeconds; ++i) {
      const auto first = attempt(suspicions_[i].correct, search_);
      if (!first || suspicions_[i].points) continue;
      for (size_t j = i + 1; j < suspicions_.size(); ++j)
        if (suspicions_[i].subject != suspicions_[j].subject && !suspicions_[j].points)
          judge(join(of(suspicions_[i]), of(suspicions_[j])), found);
      for (const auto& knob : knobs_)
        if (main_knob(knob) && !(first->form && knob.kind == Knob::Kind::parameter))
          judge_knobs(of(suspicions_[i]), *first, {knob}, found);
    }
    for (size_t i = 0; i < knobs_.size() && watch.seconds() < kSeconds; ++i)
      for (size_t j = i + 1; j < knobs_.size(); ++j)
        if (main_knob(knobs_[i]) || main_knob(knobs_[j])) judge_knobs({}, search_, {knobs_[i], knobs_[j]}, found);
    std::erase_if(found, [&](const Hypothesis& h) { return h.left >= most; });
    return found;
  }

  /// Where the residual of exact data hides what is wrong.
  std::vector<Hypothesis> by_distance() const {
    const auto few = first_samples(search_, kFewestSearched, 0);
    const double solve = seconds_ * static_cast<double>(few.x.size(0));
    if (solve * static_cast<double>(suspicions_.size()) > kSeconds) return {};
    const double before = distance_or_infinite(few);
    std::vector<Hypothesis> found;
    if (!std::isfinite(before) || usual_distance(few) <= kNearFloor * kSmallestDistance) return {};
    const auto solution = few.pde->solution(exact(few).x);
    for (const auto& s : suspicions_)
      if (s.subject != "form") judge_by_distance(of(s), few, solution, before, found);
    const double seconds = kSeconds / static_cast<double>(knobs_.size());
    for (const auto& each : knobs_) {
      const auto knob = within_reach(each);
      const Stopwatch watch;
      const auto measure = [&](const Reading& r) {
        if (knob.of_solution(*r.pde)) return distance_vector(r, solution);
        require<NumericsError>(watch.seconds() < seconds, "[{}] no time left to fit", r.pde->name());
        return distance_vector(r);
      };
      if (predicted_share(few, knob, measure) < kPromising)
        judge_by_distance(of_knobs(few, {knob}, fit_knobs(few, {knob}, measure)), few, solution, before, found);
    }
    return found;
  }

  /// A parameter that is far off shows in the residual; solutions for extreme ones may cost much more.
  static Knob within_reach(Knob knob) {
    if (knob.kind != Knob::Kind::parameter || knob.neutral() <= 0) return knob;
    knob.parameter.low = std::max(knob.parameter.low, knob.neutral() / kReach);
    knob.parameter.high = std::min(knob.parameter.high, knob.neutral() * kReach);
    return knob;
  }

  static double distance_or_infinite(const Reading& reading, const Tensor& solution = {}) {
    double found = INFINITY;
    attempt([&](const Reading& r) { return found = distance(r, solution), r; }, reading);
    return found;
  }

  /// `solution`: of the coefficients of `few`.
  void judge_by_distance(Hypothesis h, const Reading& few, const Tensor& solution, double before,
                         std::vector<Hypothesis>& found) const {
    const auto corrected = changed(few, h.changes);
    if (!corrected) return;
    double floor = kSmallestDistance;
    if (h.points) {
      const auto& points = *h.points;
      const auto back = attempt([&](const Reading& r) { return round_trip(r, points); }, *corrected);
      floor = std::max(floor, back ? distance_or_infinite(*back) : INFINITY);
    }
    const bool same =
        corrected->pde == few.pde && corrected->pde->coefficients(corrected->x).equal(few.pde->coefficients(few.x));
    const double after = distance_or_infinite(*corrected, same ? solution : Tensor());
    if (!explains(std::min(before, 1.0), after, floor)) return;  // beyond 1 the solution itself is nothing
    h.left = after / kSmallestDistance;
    h.causes[0].evidence["distance_to_solution"] = {std::sqrt(before), std::sqrt(after)};
    found.push_back(std::move(h));
  }

  /// Only where the residual would show such an error in the interior too.
  std::vector<Hypothesis> edges() const {
    std::vector<Hypothesis> found;
    if (std::max(before_.residual, before_.boundary) <= kNearFloor * floor_.residual) return found;
    for (const auto& s : edge_suspicions(search_)) judge(of(s), found);
    return found;
  }

  /// With the numbers of all samples looked at.
  std::vector<Explanation> verified(const std::vector<Hypothesis>& found) const {
    std::vector<Explanation> out;
    for (const auto& h : found) {
      auto last = misfit(whole_);
      const double first = last.total(floor_);
      auto explanation = h.causes;
      std::optional<Reading> at = whole_;
      for (size_t i = 0; i < h.changes.size() && at; ++i) {
        at = attempt(h.changes[i], *at);
        if (!at) break;
        const auto now = misfit(*at);
        note(explanation[i], last, now);
        last = now;
      }
      const bool by_distance = explanation[0].evidence.contains("distance_to_solution");
      if (at && (by_distance || last.total(floor_) <= first / kNearFloor))
        out.push_back(with_one_advice(explanation, file_));
    }
    return out;
  }

  void note(Cause& cause, const Misfit& before, const Misfit& after) const {
    auto& e = cause.evidence;
    e["rel_residual"] = {std::sqrt(before.residual), std::sqrt(after.residual)};
    if (before.boundary > 0 || after.boundary > 0)
      e["boundary_error"] = {std::sqrt(before.boundary), std::sqrt(after.boundary)};
    e["floor"] = std::sqrt(floor_.residual);
    e["samples"] = whole_.x.size(0);
  }

  std::string file_;
  Reading whole_, search_;
  Misfit before_, floor_, usual_floor_;
  double seconds_ = 0;  // of the solution of a sample
  std::vector<Suspicion> suspicions_;
  std::vector<Knob> knobs_;
};

}  // namespace

std::vector<Explanation> diagnose(const Pde& pde, const Tensor& fields, const std::string& file) {
  const torch::NoGradGuard no_grad;
  return Diagnosis(pde, fields, file.empty() ? "FILE" : file).run();
}

}  // namespace piddm
