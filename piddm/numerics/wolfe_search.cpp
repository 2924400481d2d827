#include "piddm/numerics/wolfe_search.h"

#include <algorithm>
#include <cmath>

namespace piddm {
namespace {

constexpr int kMaxTrials = 20;
constexpr double kExpand = 10;   // largest growth of a step that is still going down
constexpr double kShrink = 0.2;  // where to go between the best point and a non-finite one
constexpr double kMargin = 0.1;  // an interpolated step keeps this share of the bracket from its ends
// Two zoom steps that leave more of the bracket than this are followed by a bisection.
constexpr double kSlowShrink = 0.66;

/// Minimiser of the cubic through two values and slopes, or NaN (Nocedal and Wright, eq. 3.59).
double cubic_minimizer(const WolfeSearch::Trial& a, const WolfeSearch::Trial& b) {
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step);
  const double d2 = std::copysign(std::sqrt(d1 * d1 - a.slope * b.slope), b.step - a.step);
  return b.step - (b.step - a.step) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
}

}  // namespace

bool WolfeSearch::Trial::finite() const { return std::isfinite(value) && std::isfinite(slope); }

WolfeSearch::WolfeSearch(const Trial& start, double first_step, double resolution, double c1, double c2)
    : start_(start), low_(start), next_(first_step), resolution_(resolution), c1_(c1), c2_(c2) {}

WolfeSearch::State WolfeSearch::update(double value, double slope) {
  const Trial t{next_, value, slope};
  ++trials_;
  if (t.finite() && holds(t)) return State::accepted;
  if (settling_) return t.finite() && decreases(t) ? State::accepted : State::failed;
  bracketed_ ? narrow(t) : widen(t);
  if (!exhausted()) return State::searching;
  if (low_.step == 0) return State::failed;
  if (low_.step == t.step) return State::accepted;
  settling_ = true;
  next_ = low_.step;
  return State::searching;
}

bool WolfeSearch::decreases(const Trial& t) const { return t.value <= start_.value + c1_ * t.step * start_.slope; }

bool WolfeSearch::flat(const Trial& t) const { return std::abs(t.slope) <= -c2_ * start_.slope; }

bool WolfeSearch::worse_than_low(const Trial& t) const { return !t.finite() || !decreases(t) || t.value >= low_.value; }

bool WolfeSearch::exhausted() const {
  return trials_ >= kMaxTrials || (bracketed_ && std::abs(high_.step - low_.step) <= resolution_);
}

// Algorithm 3.5: go further until a minimum lies between low_ and high_.
void WolfeSearch::widen(const Trial& t) {
  if (worse_than_low(t)) {
    high_ = t;
  } else {
    high_ = low_;
    low_ = t;
  }
  bracketed_ = high_.step > low_.step || low_.slope >= 0;
  next_ = bracketed_ ? interpolate() : extrapolate();
}

// Algorithm 3.6: the better point becomes low_, and high_ lies on the side where low_ goes down.
void WolfeSearch::narrow(const Trial& t) {
  const double width = std::abs(high_.step - low_.step);
  if (worse_than_low(t)) {
    high_ = t;
  } else {
    if (t.slope * (high_.step - low_.step) >= 0) high_ = low_;
    low_ = t;
  }
  slow_ = std::abs(high_.step - low_.step) > kSlowShrink * width ? slow_ + 1 : 0;
  next_ = interpolate();
}

double WolfeSearch::interpolate() {
  const double width = high_.step - low_.step;
  if (!high_.finite()) return low_.step + kShrink * width;
  const double share = (cubic_minimizer(low_, high_) - low_.step) / width;
  if (!std::isfinite(share) || slow_ >= 2) {
    slow_ = 0;
    return low_.step + 0.5 * width;
  }
  return low_.step + std::clamp(share, kMargin, 1 - kMargin) * width;
}

double WolfeSearch::extrapolate() const {
  const double least = low_.step + kMargin * (low_.step - high_.step), most = kExpand * low_.step;
  const double minimizer = cubic_minimizer(high_, low_);
  return std::isfinite(minimizer) && minimizer > low_.step ? std::clamp(minimizer, least, most) : most;
}

}  // namespace piddm
