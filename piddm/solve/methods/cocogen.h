#pragma once
// CoCoGen (Jacobsen, Zhuang, Duraisamy, 2024): a plain trajectory whose last N steps, and M steps after its end, move
// the solution channels down the gradient of the residual.
//
//   u <- u - (correction / max|g|) g,   g = grad_u sum r(x)^2, network units, u the solution channels only; max over
//                                       the sample; several equations in the unit of the first, c r / c_0
//
// The gradient does not pass through the network. Tasks by imputation, as upstream: before each step the known entries
// are set to their own point of the path, alpha x' + sigma e.

#include "piddm/solve/batched_method.h"
#include "piddm/solve/methods/steps.h"

namespace piddm {

struct CocogenOptions {
  int64_t steps = 100;
  int64_t last = 20;
  int64_t after = 10;
  double correction = 2e-4;
  Spacing spacing = Spacing::uniform;
  int64_t batch = 0;
  template <class V>
  void fields(V&& f) {
    step_fields(f, steps, spacing);
    f("last", last, count_from(0), "N: steps at the end that are corrected");
    f("after", after, count_from(0), "M: corrections after the last step");
    f("correction", correction, "largest change of an entry by one correction, network units");
  }
};

class CocogenMethod : public BatchedMethod {
 public:
  CocogenMethod(const Model& model, const CocogenOptions& options);
  static Evaluations evaluations(const CocogenOptions& o, Task) { return {static_cast<double>(o.steps), 0}; }
  static CocogenOptions within(const CocogenOptions& options, Task task, int64_t evaluations);
  static std::vector<SearchFamily> search(const Model& model, Task task);

 protected:
  Tensor sample(const Batch& batch) override;
  int64_t steps(bool) const override { return options_.steps + options_.after; }

 private:
  /// One correction of z; known entries stay.
  Tensor corrected(const Tensor& z, const Target& known) const;

  CocogenOptions options_;
};

}  // namespace piddm
