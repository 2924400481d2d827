#pragma once
// A method generates samples or completes observed ones with a trained model. All share one interface and one count of
// work; what can be said of a method before there is a model is on its card.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "piddm/model/model.h"
#include "piddm/solve/choice.h"
#include "piddm/solve/search.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// Work is per sample, the mean over the samples.
struct Samples {
  Tensor x;                       ///< [n,C,H,W] physical units
  double nfe = 0;                 ///< network evaluations; the output evaluation after an optimisation is not counted
  double backward = 0;            ///< backward passes
  double seconds_per_sample = 0;  ///< wall time
  double recomputed = 0;          ///< evaluations repeated in backward passes to save memory; not in nfe
  std::string precision = {};     ///< arithmetic of the network: fp32 (always on a CPU), tf32 or bf16; empty: not known
};

class Method {
 public:
  virtual ~Method() = default;
  virtual std::string name() const = 0;

  /// Samples number first..first+n-1 of the stream that belongs to `seed`.
  virtual Samples generate(int64_t first, int64_t n, uint64_t seed) = 0;

  /// The same, handed over as they are made, a batch at a time: memory for one batch, however many there are.
  virtual void generate(int64_t first, int64_t n, uint64_t seed, const std::function<void(Samples&)>& sink) = 0;

  /// Completes each observed sample.
  virtual Samples solve(const Observation& observation, uint64_t seed) = 0;
};

using MethodPtr = std::unique_ptr<Method>;

/// Network evaluations per sample, without and with a gradient, for estimates of time.
struct Evaluations {
  double forward = 0, gradient = 0;
};

struct MethodCard {
  std::string name, summary;
  std::optional<ModelKind> needs;                        ///< the kind of model it works with; nothing: any
  bool own = false;                                      ///< what a model of this kind uses where no method is named
  bool slow = false;                                     ///< thousands of evaluations per sample: tables ask for fewer
  std::function<std::string(Task, const Pde&)> refusal;  ///< why it cannot do this; "" where it can
  std::function<std::string(Task, const Pde&)> draw_refusal;  ///< why its answers are no draws; "" where they are
  /// How well it suits a problem that it does not refuse, and why; nothing: it is not chosen unless it is named.
  std::function<std::optional<Suitability>(const Problem&)> suits;
  json draw_options = json::object();        ///< what it must be told for each answer to be a draw
  std::string options;                       ///< one "key = default # meaning" line per option
  std::function<void(const json&)> check;    ///< a UsageError for options it does not know or cannot read
  std::function<json(const json&)> renewed;  ///< stored options, all of them, under their names of today
  std::function<Evaluations(const json&, Task)> evaluations;
  std::function<json(const json&)> matched;  ///< options changed to the paper's compute-matched share of themselves
  /// Options changed so that a sample takes as many evaluations as it can of this number; nothing where the method has
  /// no such choice.
  std::function<std::optional<json>(const json&, Task, int64_t evaluations)> within;
  std::function<std::vector<SearchFamily>(const Model&, Task)> search;  ///< what can be tuned; empty: nothing
  std::function<MethodPtr(const Model&, const json&)> make;
};

}  // namespace piddm
