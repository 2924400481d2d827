#include "piddm/pde/text/newton.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"

namespace piddm {
namespace {

constexpr int kMaxIterations = 60, kMaxHalvings = 12;
constexpr double kSmallStep = 1e-7;  // below this, relative to u, a residual that does not fall is round-off
constexpr double kTinyStep = 1e-10;  // the same of a step by an older Jacobian
constexpr double kLastStep = 1e-13;  // converged: the next step would change nothing
constexpr double kRounding = 1e-12;  // of the first residual: where one that does not fall is round-off too
constexpr double kSlow = 0.1;        // an iteration that leaves more than this of the residual wants a new Jacobian

/// Euclidean norm of each sample, in an order that does not depend on the batch.
std::vector<double> norms(const Tensor& x) {
  const Tensor sums = (x * x).sum(-1).sum(-1).sum(-1).sqrt().to(torch::kCPU, torch::kFloat64).contiguous();
  return {sums.data_ptr<double>(), sums.data_ptr<double>() + sums.numel()};
}

Tensor per_sample(const std::vector<double>& values, const torch::TensorOptions& options) {
  return torch::tensor(values, torch::kFloat64).to(options).view({-1, 1, 1, 1});
}

}  // namespace

struct TextNewton::State {
  Tensor u, r;
  std::vector<double> residual, start;  ///< norms of r now and at the beginning
  std::vector<double> step;             ///< norm of the last update
  std::vector<bool> done, fresh;        ///< fresh: the Jacobian in use is that of u
  std::vector<double> factor;           ///< of the update; 0: refused, to be tried with a new Jacobian
};

TextNewton::TextNewton(const TextSystem& system, TextLinearSolves& linear, const Tensor& coefficients, int64_t first)
    : system_(system),
      linear_(linear),
      coefficients_(coefficients),
      first_(first),
      stale_(static_cast<size_t>(coefficients.size(0)), true) {
  report_.each.assign(stale_.size(), 0);
}

void TextNewton::fail(const State& state, size_t which) const {
  throw NumericsError(
      "[{}] sample {}{} has no solution that Newton's method finds: the residual stays at {:.2e} (of {:.2e}){}",
      system_.text().name, first_ + static_cast<int64_t>(which), level_ > 0 ? fmt::format(", step {}", level_) : "",
      state.residual[which], state.start[which],
      linear_.singular(which) ? "; its linear system is singular: walls and equation do not fix the solution" : "");
}

void TextNewton::renew(State& state) {
  std::vector<bool> which(stale_.size());
  bool any = false;
  for (size_t i = 0; i < which.size(); ++i) any = (which[i] = stale_[i] && !state.done[i]) || any;
  if (!any) return;
  if (system_.has_table()) {
    linear_.renew(system_.jacobian(state.u, before_, coefficients_, level_), which);
  } else {
    linear_.renew([this, u = state.u, before = before_, level = level_](const Tensor& v) {
      return system_.jacobian_product(u, before, coefficients_, level, v);
    });
  }
  for (size_t i = 0; i < which.size(); ++i)
    if (which[i]) state.fresh[i] = true, stale_[i] = false;
}

/// u + factor * update, the factor of each sample halved until its residual falls.
Tensor TextNewton::damped(State& state, const Tensor& update) {
  const auto size = norms(state.u), length = norms(update);
  auto& factor = state.factor;
  factor.assign(size.size(), 1);
  for (size_t i = 0; i < factor.size(); ++i)
    if (state.done[i] || !std::isfinite(length[i])) factor[i] = 0;
  for (int halving = 0;; ++halving) {
    Tensor next = state.u + torch::nan_to_num(update, 0, 0, 0) * per_sample(factor, state.u.options());
    const Tensor r = row(next);
    const auto now = norms(r);
    bool again = false;
    for (size_t i = 0; i < factor.size(); ++i) {
      if (factor[i] == 0) continue;
      state.step[i] = factor[i] * length[i];
      const bool small = state.step[i] <= kSmallStep * size[i] && std::isfinite(now[i]);
      if (small || now[i] < state.residual[i] * (1 - 1e-4 * factor[i])) continue;
      factor[i] = state.fresh[i] && halving < kMaxHalvings ? factor[i] / 2 : 0;
      again = true;
    }
    if (!again) {
      state.r = r;
      return next;
    }
  }
}

/// What was reached, who is done, whose Jacobian is worn out.
void TextNewton::settle(State& state, const Tensor& next) {
  const auto now = norms(state.r), size = norms(next);
  state.u = next;
  for (size_t i = 0; i < now.size(); ++i) {
    if (state.done[i]) continue;
    if (state.factor[i] == 0) {
      state.done[i] = state.fresh[i] && state.residual[i] <= kRounding * state.start[i];
      if (state.fresh[i] && !state.done[i]) fail(state, i);
      stale_[i] = !state.done[i];
      continue;
    }
    const bool stuck = now[i] >= 0.5 * state.residual[i] && state.factor[i] == 1;
    const bool small = state.step[i] <= (state.fresh[i] ? kSmallStep : kTinyStep) * size[i];
    const bool last = state.step[i] <= kLastStep * size[i], round_off = now[i] <= kRounding * state.start[i];
    state.done[i] = now[i] == 0 || last || (stuck && (small || (state.fresh[i] && round_off)));
    stale_[i] = !state.done[i] && now[i] > kSlow * state.residual[i];
    state.fresh[i] = false;
    state.residual[i] = now[i];
  }
}

Tensor TextNewton::advance(const std::vector<Tensor>& guesses, const Tensor& before, int64_t level) {
  before_ = before;
  level_ = level;
  State state;
  state.u = guesses[0];
  state.r = row(state.u);
  state.residual = norms(state.r);
  for (size_t g = 1; g < guesses.size(); ++g) {
    const auto other = norms(row(guesses[g]));
    std::vector<double> take(other.size());
    for (size_t i = 0; i < take.size(); ++i) take[i] = other[i] < state.residual[i] ? 1 : 0;
    const Tensor mask = per_sample(take, state.u.options()) != 0;
    state.u = torch::where(mask, guesses[g], state.u);
  }
  state.r = row(state.u);
  state.residual = state.start = norms(state.r);
  const size_t n = state.residual.size();
  state.step.assign(n, 0);
  state.done.assign(n, false);
  state.fresh.assign(n, false);
  for (size_t i = 0; i < n; ++i) {
    require<NumericsError>(std::isfinite(state.residual[i]),
                           "[{}] sample {}{}: the equation is not finite at its start", system_.text().name,
                           first_ + static_cast<int64_t>(i), level > 0 ? fmt::format(", step {}", level) : "");
    state.done[i] = state.residual[i] == 0;
  }
  for (int iteration = 0; !std::all_of(state.done.begin(), state.done.end(), [](bool d) { return d; }); ++iteration) {
    if (iteration == kMaxIterations)
      fail(state, static_cast<size_t>(std::find(state.done.begin(), state.done.end(), false) - state.done.begin()));
    for (size_t i = 0; i < n; ++i) report_.each[i] += state.done[i] ? 0 : 1;
    renew(state);
    settle(state, damped(state, -linear_.solve(state.r)));
    report_.iterations = std::max<int64_t>(report_.iterations, iteration + 1);
  }
  for (size_t i = 0; i < n; ++i)
    if (state.start[i] > 0)
      report_.relative_residual = std::max(report_.relative_residual, state.residual[i] / state.start[i]);
  return state.u;
}

}  // namespace piddm
