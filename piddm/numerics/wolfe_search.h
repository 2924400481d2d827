#pragma once
// The strong-Wolfe line search of one scalar function phi(step) = f(x + step d), as a state machine, so that many
// searches can share the calls of one batched objective: ask for step(), give what was found there to update().
//
//   phi(step) <= phi(0) + c1 step phi'(0)   and   |phi'(step)| <= c2 |phi'(0)|
//
// Nocedal and Wright, "Numerical Optimization" (2nd ed.), Algorithms 3.5 (bracket) and 3.6 (zoom), with safeguarded
// cubic interpolation.

namespace piddm {

class WolfeSearch {
 public:
  enum class State { searching, accepted, failed };

  struct Trial {
    double step = 0, value = 0, slope = 0;
    bool finite() const;
  };

  WolfeSearch() = default;

  /// `start` is the trial at step 0, with slope < 0. A bracket narrower than `resolution` is not divided further.
  WolfeSearch(const Trial& start, double first_step, double resolution, double c1, double c2);

  /// Where phi is wanted next.
  double step() const { return next_; }
  const Trial& start() const { return start_; }

  /// Takes phi and phi' at step(). A value or slope that is not finite is a failed trial: the step shrinks. When trials
  /// or resolution run out, the best point with sufficient decrease is accepted (asked for once more if it was not the
  /// last one), or the search has failed.
  State update(double value, double slope);

  /// Whether both conditions hold at this point.
  bool holds(const Trial& trial) const { return decreases(trial) && flat(trial); }

 private:
  bool decreases(const Trial& t) const;
  bool flat(const Trial& t) const;
  bool worse_than_low(const Trial& t) const;
  bool exhausted() const;
  void widen(const Trial& t);
  void narrow(const Trial& t);
  double interpolate();
  double extrapolate() const;

  Trial start_, low_, high_;  // low_: best point with sufficient decrease; high_: the other end, or the point before
                              // low_ until bracketed
  double next_ = 0, resolution_ = 0, c1_ = 0, c2_ = 0;
  int trials_ = 0, slow_ = 0;
  bool bracketed_ = false, settling_ = false;
};

}  // namespace piddm
