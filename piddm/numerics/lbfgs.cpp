#include "piddm/numerics/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "piddm/numerics/wolfe_search.h"

namespace piddm {
namespace {

constexpr double kMinCurvature = 1e-10;  // a pair is kept when s.y > kMinCurvature ||s|| ||y||

/// Row by row dot products of [n, D], float64.
Tensor row_dot(const Tensor& a, const Tensor& b) { return (a.to(torch::kFloat64) * b.to(torch::kFloat64)).sum(1); }

/// y + a x for a [n] float64 and x, y [n, D].
Tensor axpy(const Tensor& a, const Tensor& x, const Tensor& y) { return y + a.to(x.dtype()).unsqueeze(1) * x; }

Tensor to_host(const Tensor& x) { return x.to(torch::kCPU, torch::kFloat64).contiguous(); }

/// The last pairs of every sample in a ring each. Unused places have rho = 0 and so no effect.
class History {
 public:
  History(const Tensor& x, int64_t size)
      : size_(size),
        s_(torch::zeros({x.size(0), size, x.size(1)}, x.options())),
        y_(torch::zeros_like(s_)),
        rho_(torch::zeros({x.size(0), size}, x.options().dtype(torch::kFloat64))),
        gamma_(torch::ones({x.size(0)}, rho_.options())),
        pushed_(x.size(0), 0) {}

  bool empty(int64_t sample) const { return pushed_[sample] == 0; }

  /// Adds the pairs (s, y) [n, D] of the samples `rows`, except those without positive curvature.
  void push(const std::vector<int64_t>& rows, const Tensor& s, const Tensor& y) {
    const auto sy = row_dot(s, y), yy = row_dot(y, y);
    const auto keep = (sy > kMinCurvature * (row_dot(s, s) * yy).sqrt()).to(torch::kCPU);
    std::vector<int64_t> kept, from;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!keep[static_cast<int64_t>(i)].item<bool>()) continue;
      kept.push_back(rows[i]);
      from.push_back(static_cast<int64_t>(i));
    }
    if (kept.empty()) return;
    for (const auto row : kept) ++pushed_[row];
    const auto at = index(kept), slot = slots(kept, 0), source = index(from);
    s_.index_put_({at, slot}, s.index_select(0, source));
    y_.index_put_({at, slot}, y.index_select(0, source));
    rho_.index_put_({at, slot}, sy.index_select(0, source).reciprocal());
    gamma_.index_put_({at}, (sy / yy).index_select(0, source));
  }

  void clear(const std::vector<int64_t>& rows) {
    rho_.index_fill_(0, index(rows), 0);
    gamma_.index_fill_(0, index(rows), 1);
    for (const auto row : rows) pushed_[row] = 0;
  }

  /// -H g for the gradients g [n, D] of the samples `rows` (Algorithm 7.4).
  Tensor direction(const std::vector<int64_t>& rows, const Tensor& g) const {
    int64_t depth = 0;
    for (const auto row : rows) depth = std::max(depth, std::min(pushed_[row], size_));
    const auto at = index(rows);
    auto q = g;
    std::vector<Tensor> alpha;
    for (int64_t age = 0; age < depth; ++age) {
      const auto slot = slots(rows, age);
      alpha.push_back(rho_.index({at, slot}) * row_dot(s_.index({at, slot}), q));
      q = axpy(-alpha.back(), y_.index({at, slot}), q);
    }
    q = q * gamma_.index({at}).to(q.dtype()).unsqueeze(1);
    for (int64_t age = depth - 1; age >= 0; --age) {
      const auto slot = slots(rows, age);
      const auto beta = rho_.index({at, slot}) * row_dot(y_.index({at, slot}), q);
      q = axpy(alpha[age] - beta, s_.index({at, slot}), q);
    }
    return -q;
  }

  Tensor index(const std::vector<int64_t>& rows) const { return torch::tensor(rows, torch::kLong).to(s_.device()); }

 private:
  Tensor slots(const std::vector<int64_t>& rows, int64_t age) const {
    std::vector<int64_t> slot;
    for (const auto row : rows) slot.push_back(((pushed_[row] - 1 - age) % size_ + size_) % size_);
    return index(slot);
  }

  int64_t size_;
  Tensor s_, y_, rho_, gamma_;  // [B, size, D] twice, [B, size] and [B] float64
  std::vector<int64_t> pushed_;
};

struct Sample {
  double value = 0;                                        // at the current iterate
  double best = std::numeric_limits<double>::quiet_NaN();  // at the best point evaluated
  int64_t iterations = 0;
  bool running = true, converged = false;
  WolfeSearch search;

  void stop(bool by_tolerance) {
    running = false;
    converged = by_tolerance;
  }
};

class Minimizer {
 public:
  Minimizer(const BatchObjective& objective, const Tensor& x0, const LbfgsOptions& options)
      : objective_(objective),
        options_(options),
        shape_(x0.sizes().vec()),
        budget_(options.max_evaluations > 0 ? options.max_evaluations
                                            : std::max<int64_t>(options.iterations * 5 / 4, 1)),
        x_(x0.detach().reshape({x0.size(0), -1}).clone()),
        direction_(torch::zeros_like(x_)),
        best_x_(x_.clone()),
        history_(x_, options.history),
        samples_(x0.size(0)) {}

  LbfgsResult run(const std::function<void(const LbfgsProgress&)>& callback) {
    begin();
    while (running() > 0 && evaluations_ < budget_) {
      const auto steps = advance();
      if (callback) callback({evaluations_, running(), values_.back(), steps});
    }
    return result();
  }

 private:
  // Value, slope along direction_ and max|g| of every sample, [3, B] on the host; NaN where anything is not finite.
  Tensor evaluate(const Tensor& x) {
    auto [value, gradient] = objective_(x.reshape(shape_));
    require<DataError>(value.dim() == 1 && value.size(0) == x.size(0),
                       "[lbfgs] objective: expected values ({}), got {}", x.size(0), shape_string(value));
    require<DataError>(gradient.sizes() == torch::IntArrayRef(shape_),
                       "[lbfgs] objective: expected a gradient like x, got {}", shape_string(gradient));
    ++evaluations_;
    trial_gradient_ = gradient.detach().reshape(x.sizes()).to(x.dtype());
    const auto largest = trial_gradient_.abs().amax(1).to(torch::kFloat64);
    const auto values = value.detach().to(largest.options());
    const auto scalars = torch::stack({values, row_dot(trial_gradient_, direction_), largest});
    return to_host(torch::where(scalars.isfinite().all(0), scalars, std::numeric_limits<double>::quiet_NaN()));
  }

  void begin() {
    const auto scalars = evaluate(x_);
    gradient_ = trial_gradient_.clone();
    const auto s = scalars.accessor<double, 2>();
    std::vector<int64_t> rows;
    for (int64_t b = 0; b < count(); ++b) {
      samples_[b].value = samples_[b].best = s[0][b];
      if (!std::isfinite(s[0][b]) || options_.iterations == 0)
        samples_[b].stop(false);
      else if (s[2][b] <= options_.tolerance_grad)
        samples_[b].stop(true);
      else
        rows.push_back(b);
    }
    record();
    aim(rows);
  }

  // One call of the objective: every running sample's next trial.
  std::vector<LbfgsStep> advance() {
    std::vector<double> step;
    for (const auto& sample : samples_) step.push_back(sample.running ? sample.search.step() : 0);
    const auto trial = axpy(torch::tensor(step, torch::kFloat64).to(x_.device()), direction_, x_);
    const auto scalars = evaluate(trial);
    const auto s = scalars.accessor<double, 2>();
    std::vector<int64_t> better, moved, stuck;
    std::vector<LbfgsStep> steps;
    for (int64_t b = 0; b < count(); ++b) {
      auto& sample = samples_[b];
      if (!sample.running) continue;
      if (s[0][b] < sample.best) {
        sample.best = s[0][b];
        better.push_back(b);
      }
      const auto state = sample.search.update(s[0][b], s[1][b]);
      if (state == WolfeSearch::State::failed) stuck.push_back(b);
      if (state != WolfeSearch::State::accepted) continue;
      moved.push_back(b);
      steps.push_back(finished(b, step[b], s[0][b], s[1][b]));
    }
    copy_rows(better, trial, best_x_);
    record();
    auto rows = move(moved, trial, scalars);
    const auto restarted = restart(stuck);
    rows.insert(rows.end(), restarted.begin(), restarted.end());
    aim(rows);
    return steps;
  }

  LbfgsStep finished(int64_t b, double step, double value, double slope) const {
    const auto& search = samples_[b].search;
    return {b,     samples_[b].iterations + 1,        step, search.start().value, search.start().slope, value,
            slope, search.holds({step, value, slope})};
  }

  // Takes the trial of the samples `rows` as their new iterate; returns those that go on.
  std::vector<int64_t> move(const std::vector<int64_t>& rows, const Tensor& trial, const Tensor& scalars) {
    if (rows.empty()) return {};
    const auto at = history_.index(rows);
    const auto s = trial.index_select(0, at) - x_.index_select(0, at);
    history_.push(rows, s, trial_gradient_.index_select(0, at) - gradient_.index_select(0, at));
    copy_rows(rows, trial, x_);
    copy_rows(rows, trial_gradient_, gradient_);
    const auto change = to_host(s.abs().amax(1));
    std::vector<int64_t> going_on;
    for (size_t i = 0; i < rows.size(); ++i) {
      auto& sample = samples_[rows[i]];
      const auto value = scalars[0][rows[i]].item<double>(), largest = scalars[2][rows[i]].item<double>();
      const bool small_change = change[static_cast<int64_t>(i)].item<double>() <= options_.tolerance_change ||
                                std::abs(sample.value - value) <= options_.tolerance_change;
      sample.value = value;
      ++sample.iterations;
      if (largest <= options_.tolerance_grad || small_change)
        sample.stop(true);
      else if (sample.iterations >= options_.iterations)
        sample.stop(false);
      else
        going_on.push_back(rows[i]);
    }
    return going_on;
  }

  // After a failed search: empty history, or the end where it was empty already.
  std::vector<int64_t> restart(const std::vector<int64_t>& rows) {
    std::vector<int64_t> restarted;
    for (const auto b : rows) {
      if (history_.empty(b))
        samples_[b].stop(false);
      else
        restarted.push_back(b);
    }
    if (!restarted.empty()) history_.clear(restarted);
    return restarted;
  }

  // New directions and line searches for the samples `rows`.
  void aim(const std::vector<int64_t>& rows) {
    if (rows.empty()) return;
    const auto at = history_.index(rows);
    const auto g = gradient_.index_select(0, at);
    auto d = history_.direction(rows, g);
    // A direction that rounding has spoiled gives way to -g.
    const auto slope = row_dot(d, g);
    const auto downhill = (slope < 0).logical_and(slope.isfinite());
    d = torch::where(downhill.unsqueeze(1), d, -g);
    direction_.index_copy_(0, at, d);
    const auto largest = d.abs().amax(1).to(torch::kFloat64);
    const auto scalars =
        to_host(torch::stack({row_dot(d, g), largest, row_dot(g, g).sqrt(), downhill.to(torch::kFloat64)}));
    const auto s = scalars.accessor<double, 2>();
    std::vector<int64_t> spoiled;
    for (size_t i = 0; i < rows.size(); ++i) {
      auto& sample = samples_[rows[i]];
      if (s[3][i] == 0) spoiled.push_back(rows[i]);
      const bool steepest = history_.empty(rows[i]) || s[3][i] == 0;
      const double first = options_.learning_rate * (steepest ? std::min(1.0, 1 / s[2][i]) : 1.0);
      sample.search =
          WolfeSearch({0, sample.value, s[0][i]}, first, options_.tolerance_change / s[1][i], options_.c1, options_.c2);
    }
    if (!spoiled.empty()) history_.clear(spoiled);
  }

  void copy_rows(const std::vector<int64_t>& rows, const Tensor& from, Tensor& to) const {
    if (rows.empty()) return;
    const auto at = history_.index(rows);
    to.index_copy_(0, at, from.index_select(0, at));
  }

  void record() {
    std::vector<double> best;
    for (const auto& sample : samples_) best.push_back(sample.best);
    values_.push_back(torch::tensor(best, torch::kFloat64));
  }

  LbfgsResult result() const {
    std::vector<int64_t> iterations;
    auto converged = torch::zeros({count()}, torch::kBool);
    for (int64_t b = 0; b < count(); ++b) {
      iterations.push_back(samples_[b].iterations);
      converged[b] = samples_[b].converged;
    }
    return {best_x_.reshape(shape_),
            values_.back(),
            torch::tensor(iterations, torch::kLong),
            evaluations_,
            converged,
            values_};
  }

  int64_t count() const { return static_cast<int64_t>(samples_.size()); }
  int64_t running() const {
    return std::count_if(samples_.begin(), samples_.end(), [](const Sample& s) { return s.running; });
  }

  const BatchObjective& objective_;
  const LbfgsOptions& options_;
  std::vector<int64_t> shape_;
  int64_t budget_, evaluations_ = 0;
  Tensor x_, gradient_, direction_, trial_gradient_, best_x_;  // [B, D]
  History history_;
  std::vector<Sample> samples_;
  std::vector<Tensor> values_;
};

void check(const Tensor& x0, const LbfgsOptions& o) {
  require<DataError>(x0.dim() >= 2 && x0.numel() > 0, "[lbfgs] expected x0 (B, ...) with entries, got {}",
                     shape_string(x0));
  require<DataError>(x0.scalar_type() == torch::kFloat32 || x0.scalar_type() == torch::kFloat64,
                     "[lbfgs] x0 must be float32 or float64, got {}", torch::toString(x0.scalar_type()));
  require<UsageError>(o.iterations >= 0, "[lbfgs] iterations must not be negative, got {}", o.iterations);
  require<UsageError>(o.history >= 1, "[lbfgs] history must be at least 1, got {}", o.history);
  require<UsageError>(o.learning_rate > 0, "[lbfgs] learning_rate must be positive, got {}", o.learning_rate);
  require<UsageError>(o.max_evaluations >= 0, "[lbfgs] max_evaluations must not be negative, got {}",
                      o.max_evaluations);
  require<UsageError>(0 < o.c1 && o.c1 < o.c2 && o.c2 < 1, "[lbfgs] expected 0 < c1 < c2 < 1, got {} and {}", o.c1,
                      o.c2);
}

}  // namespace

BatchObjective with_gradient(std::function<Tensor(const Tensor& x)> loss) {
  return [loss = std::move(loss)](const Tensor& x) -> Evaluation {
    torch::AutoGradMode enable(true);
    const auto leaf = x.detach().requires_grad_(true);
    const auto value = loss(leaf);
    return {value.detach(), torch::autograd::grad({value.sum()}, {leaf})[0]};
  };
}

LbfgsResult minimize_lbfgs(const BatchObjective& objective, const Tensor& x0, const LbfgsOptions& options,
                           const std::function<void(const LbfgsProgress&)>& callback) {
  check(x0, options);
  return Minimizer(objective, x0, options).run(callback);
}

}  // namespace piddm
