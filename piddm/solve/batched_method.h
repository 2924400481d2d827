#pragma once
// What all methods share: the kind of model they need, batches that fit into memory, noise by sample number, progress,
// the count of work, and the way back to physical units. A method says how one batch is sampled.

#include <memory>

#include "piddm/core/progress.h"
#include "piddm/solve/method.h"
#include "piddm/solve/task/target.h"

namespace piddm {

/// Samples first..first+count-1 of a seed's stream, and what is known of them.
struct Batch {
  uint64_t seed;
  Stream stream;
  int64_t first, count;
  Target known;  ///< empty in generation
};

class BatchedMethod : public Method {
 public:
  std::string name() const final { return name_; }
  Samples generate(int64_t first, int64_t n, uint64_t seed) final;
  void generate(int64_t first, int64_t n, uint64_t seed, const std::function<void(Samples&)>& sink) final;
  Samples solve(const Observation& observation, uint64_t seed) final;

 protected:
  /// Refuses a model of another kind than `kind` (nothing: any model) and freezes the network's weights. `batch`:
  /// latents to work on together; 0: as memory allows.
  BatchedMethod(std::string name, const Model& model, std::optional<ModelKind> kind, int64_t batch);

  /// One batch, network units. Sample b must depend on sample b of the noise and of what is known only.
  virtual Tensor sample(const Batch& batch) = 0;

  /// Number of advance() calls per batch.
  virtual int64_t steps(bool /*observed*/) const { return 1; }

  /// Whether sampling keeps the graph of an evaluation, bytes that a sample takes beside it, and how many latents the
  /// network sees for each sample.
  virtual bool uses_gradient(bool /*observed*/) const { return false; }
  virtual int64_t extra_bytes() const { return 0; }
  virtual int64_t latents_per_sample(bool /*observed*/) const { return 1; }

  /// Of what is known, and of the samples a method returns.
  virtual torch::ScalarType dtype() const { return torch::kFloat32; }

  /// Whether it can use functionals of a sample beside its entries (task/functionals.h); else they are refused.
  virtual bool takes_functionals() const { return false; }

  /// Throws for observations that cannot be answered, before any work.
  virtual void check(const Target& /*known*/) const {}

  /// What sample() returned, in physical units.
  virtual Tensor to_physical(const Tensor& z) const { return model_.normalizer.to_physical(z); }

  /// White noise of the batch, [count,C,H,W]; number `draw` of each sample.
  virtual Tensor noise(const Batch& batch, int64_t draw = 0) const;

  /// One step done: moves the progress bar; throws Interrupted after Ctrl-C.
  void advance();

  Model model_;
  int64_t uncounted_ = 0;   ///< output evaluations after an optimisation
  int64_t recomputed_ = 0;  ///< evaluations repeated in backward passes
  int64_t unmetered_ = 0;   ///< evaluations that the network did not count

 private:
  class Meter;

  Samples run(Stream stream, int64_t first, int64_t n, uint64_t seed, const Target& known);
  void each_batch(Stream stream, int64_t first, int64_t n, uint64_t seed, const Target& known,
                  const std::function<void(const Tensor& z)>& sink);

  std::string name_;
  int64_t batch_;
  std::unique_ptr<Progress> progress_;
};

/// Options of which no number is out of its bounds; else a UsageError.
template <class Options>
const Options& in_bounds(const Options& options) {
  check_bounds(options);
  return options;
}

}  // namespace piddm
