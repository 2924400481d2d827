#pragma once
// A method generates samples or completes observed ones with a trained model. All share one interface and one count of work.

#include <memory>
#include <string>

#include "piddm/model/model.h"
#include "piddm/solve/task.h"

namespace piddm {

struct Samples {
  Tensor x;        ///< [n,C,H,W] physical units, float32
  double nfe = 0;  ///< network evaluations a sample; the last output evaluation after an optimisation is not counted
  double backward = 0;            ///< backward passes a sample
  double seconds_per_sample = 0;  ///< wall time over the number of samples
};

class Method {
 public:
  virtual ~Method() = default;
  virtual std::string name() const = 0;

  /// Samples number first..first+n-1 of the stream that belongs to `seed`.
  virtual Samples generate(int64_t first, int64_t n, uint64_t seed) = 0;

  /// Completes each observed sample.
  virtual Samples solve(const Observation& observation, uint64_t seed) = 0;
};

using MethodPtr = std::unique_ptr<Method>;

/// Factories take the model and the method's own options as json.
const Registry<MethodPtr(const Model&, const json&)>& method_registry();

/// The method for this model when none is named: teacher or piddm.
std::string default_method(const Model& model);

}  // namespace piddm
