#pragma once
// A posterior in one evaluation: x = d(e, y), the amortised student (posterior/posterior_student.h). Sample i of a seed
// is the draw of noise number i for what is known of case i; nothing known: a sample of the law.
//
// average = K > 1 answers with the mean of K draws, K evaluations: an estimate of the posterior mean, the best single
// answer in mean square, but no sample.

#include "piddm/posterior/posterior_student.h"
#include "piddm/solve/batched_method.h"

namespace piddm {

struct AmortisedOptions {
  int64_t average = 1;
  bool hard = true;
  int64_t batch = 0;

  template <class V>
  void fields(V&& f) {
    f("average", average, between(1, 1e6), "draws of each case whose mean is the answer; 1: a draw");
    f("hard", hard, "replace exactly observed entries in the sample");
  }
};

class AmortisedMethod : public BatchedMethod {
 public:
  static constexpr bool kOwn = true;
  AmortisedMethod(const Model& model, const AmortisedOptions& options);
  static Evaluations evaluations(const AmortisedOptions& o, Task) { return {static_cast<double>(o.average), 0}; }
  /// In tasks the mean of so many draws; a generated sample takes one.
  static AmortisedOptions within(AmortisedOptions o, Task task, int64_t evaluations) {
    o.average = task == Task::generate ? 1 : evaluations;
    return o;
  }
  /// Anything at entries of the grid; it takes no functionals.
  static std::optional<Suitability> suits(const Problem& problem);

 protected:
  Tensor sample(const Batch& batch) override;
  int64_t steps(bool) const override { return options_.average; }
  int64_t extra_bytes() const override;

 private:
  PosteriorStudent student_;
  AmortisedOptions options_;
};

}  // namespace piddm
