#pragma once
// A method generates samples or completes observed ones with a trained model. All share one interface and one count of
// work.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "piddm/model/model.h"
#include "piddm/solve/task/task.h"

namespace piddm {

struct Samples {
  Tensor x;        ///< [n,C,H,W] physical units, float32
  double nfe = 0;  ///< network evaluations a sample; the last output evaluation after an optimisation is not counted
  double backward = 0;            ///< backward passes a sample
  double seconds_per_sample = 0;  ///< wall time over the number of samples
  double recomputed = 0;          ///< evaluations a sample repeated in backward passes to save memory; not in nfe
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

/// What can be said of a method before there is a model.
struct MethodCard {
  std::string name, summary;
  std::optional<ModelKind> needs;                        ///< the kind of model it works with; nothing: any
  std::function<std::string(Task, const Pde&)> refusal;  ///< why it cannot do this; "" where it can
  std::string options;                                   ///< one "key = default # meaning" line an option
  std::function<void(const json&)> check;                ///< a UsageError for options it does not know or cannot read
  std::function<MethodPtr(const Model&, const json&)> make;
};

/// A UsageError that names the method unless the model is of this kind.
void require_kind(const Model& model, ModelKind kind, const std::string& method);

}  // namespace piddm
