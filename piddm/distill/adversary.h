#pragma once
// An adversary of the student: a patch discriminator D that tells true data from the student's samples, trained beside
// it (Goodfellow et al. 2014, hinge form of Lim and Ye 2017, patches of Isola et al. 2017).
//
//   D:        min  mean max(0, 1 - D(x_0)) + mean max(0, 1 + D(d(e)))      over x_0 of the training data
//   student:  match + weight (- mean D(d(e)))
//
// A regression onto the teacher's pairs is a conditional mean wherever the student cannot follow them, and can never be
// better than its teacher. D judges the law itself, in patches: soft edges, speckle and missing modes give a sample
// away whatever latent it came from. It sees true data, so the student can pass its teacher.
//
//   D   four 4x4 convolutions with stride 2, of width, 2, 4 and 4 width channels, leaky ReLU (0.2), then 1x1 to one
//       number per patch of 46 x 46 points; every weight divided by its largest singular value (Miyato et al. 2018), of
//       which one step of the power method is taken per training step
//
// Fields in network units, [B,C,H,W]. Weights, vectors and the last loss keep their places in memory: a recorded step
// of the student goes on reading them.

#include "piddm/train/adam.h"
#include "piddm/train/batches.h"
#include "piddm/train/objective.h"

namespace piddm {

struct AdversaryOptions {
  double weight = 0;
  double from = 0.5;
  double lr = 5e-4;
  int64_t width = 32;

  template <class V>
  void fields(V&& f) {
    f("weight", weight, at_least(0), "weight of the adversary's verdict in the student's loss; 0: none");
    f("from", from, from_to_below(0, 1), "share of the training after which it sets in");
    f("lr", lr, more_than(0), "learning rate of the adversary at first; a cosine down to 0 at the end of the training");
    f("width", width, between(1, 1024), "channels of its first layer");
  }
};

/// D of the comment above.
class PatchDiscriminator : public torch::nn::Module {
 public:
  PatchDiscriminator(int64_t channels, int64_t width, uint64_t seed);

  /// [B,C,H,W] -> one number per patch, [B,1,H/16,W/16]; `frozen`: without gradients of the weights.
  Tensor forward(const Tensor& x, bool frozen) const;

  /// A step of the power method for every layer.
  void normalise();

  /// The left singular vectors the power method is at, by name.
  TensorMap vectors() const;
  void load_vectors(const TensorMap& vectors);

 private:
  struct Layer {
    Tensor weight, bias;
    Tensor u, v;  ///< unit vectors: u^T W v is the estimate of the largest singular value
    int64_t stride;
  };
  Tensor normalised(const Layer& layer) const;

  std::vector<Layer> layers_;
};

class Adversary {
 public:
  /// `data` [N,C,H,W] in network units, on the student's device. It takes part from step `first` on, of `steps`.
  Adversary(const Tensor& data, const AdversaryOptions& options, int64_t first, int64_t steps, uint64_t seed);

  bool active(int64_t step) const { return step >= first_; }

  /// - weight mean D(x), differentiable in x.
  Tensor verdict(const Tensor& x) const;

  /// One training step of D on samples x of the student in its step `step`.
  void learn(int64_t step, const Tensor& x);

  /// lr (1 + cos(pi s)) / 2, s the share of its steps that is over: were it constant, the adversary would win at the
  /// end, where the student's own rate falls, and drag the student's means about.
  double learning_rate(int64_t step) const;

  const Tensor& last_loss() const { return last_loss_; }  ///< float32 [1]; 2 is blind, 0 sees through everything

  ObjectiveState state() const;
  void load(const ObjectiveState& state);

 private:
  Tensor data_;
  AdversaryOptions options_;
  int64_t first_, steps_;
  uint64_t seed_;
  std::optional<BatchOrder> order_;
  PatchDiscriminator network_;
  Adam adam_;
  Tensor last_loss_;
};

}  // namespace piddm
