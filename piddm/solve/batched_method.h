#pragma once
// What the sampling methods share: batches that fit into memory, noise by sample number, progress, the count of work,
// and the way back to physical units. A method says how one batch is sampled.

#include <memory>

#include "piddm/core/progress.h"
#include "piddm/solve/method.h"
#include "piddm/solve/terms.h"

namespace piddm {

/// Samples first..first+count-1 of a seed's stream, and what is known of them.
struct Batch {
  uint64_t seed;
  Stream stream;
  int64_t first, count;
  Known known;
};

class BatchedMethod : public Method {
 public:
  std::string name() const final { return name_; }
  Samples generate(int64_t first, int64_t n, uint64_t seed) final;
  Samples solve(const Observation& observation, uint64_t seed) final;

 protected:
  /// Refuses a model of the other kind and freezes the network's weights.
  BatchedMethod(std::string name, const Model& model, ModelKind kind, int64_t batch);

  /// One batch, network units. Sample b must depend on sample b of the noise and of what is known only.
  virtual Tensor sample(const Batch& batch) = 0;

  /// advance() calls a batch makes.
  virtual int64_t steps(bool observed) const = 0;

  /// Whether sampling keeps the graph of an evaluation, and bytes a sample takes beside it.
  virtual bool uses_gradient(bool observed) const = 0;
  virtual int64_t extra_bytes() const { return 0; }

  /// Of what is known, and of the samples a method returns.
  virtual torch::ScalarType dtype() const { return torch::kFloat32; }

  /// White noise of the batch, [count,C,H,W]; number `draw` of each sample.
  virtual Tensor noise(const Batch& batch, int64_t draw = 0) const;

  /// One step done: moves the progress bar; throws Interrupted after Ctrl-C.
  void advance();

  Model model_;
  int64_t uncounted_ = 0;   ///< output evaluations after an optimisation
  int64_t recomputed_ = 0;  ///< evaluations repeated in backward passes

 private:
  Samples run(Stream stream, int64_t first, int64_t n, uint64_t seed, const Known& known);

  std::string name_;
  int64_t batch_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace piddm
