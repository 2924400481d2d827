#pragma once
// A method generates samples or completes observed ones with a trained model. All share one interface and one count of work.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "piddm/model/model.h"
#include "piddm/solve/task.h"

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

/// Factories take the model and the method's own options as json.
const Registry<MethodPtr(const Model&, const json&)>& method_registry();

/// What can be said of a method before there is a model.
struct MethodCard {
  std::string name, summary;
  std::optional<ModelKind> needs;                        ///< the kind of model it works with; nothing: any
  std::function<std::string(Task, const Pde&)> refusal;  ///< why it cannot do this; "" where it can
  std::string options;                                   ///< one "key = default # meaning" line an option
  std::function<void(const json&)> check;                ///< a UsageError for options it does not know or cannot read
  std::function<MethodPtr(const Model&, const json&)> make;
};

const std::vector<MethodCard>& method_cards();
const MethodCard& method_card(const std::string& name);

/// The method for this model; a UsageError with the reason where it cannot do the task on the model's PDE or needs another kind of model.
MethodPtr make_method(const std::string& name, Task task, const Model& model, const json& options);

/// The method for this model when none is named: teacher or piddm.
std::string default_method(const Model& model);

/// A UsageError that names the method unless the model is of this kind.
void require_kind(const Model& model, ModelKind kind, const std::string& method);

}  // namespace piddm
