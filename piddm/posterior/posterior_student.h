#pragma once
// The amortised student d(e, y): a draw from the posterior of a sample given an observation y, in one evaluation.
//
//   z = heads(network(e; images of y))      e smooth noise (noise.h), images (encoding.h), heads (model/heads.h)
//   x = y in place of the exact values, else z
//
// The network is an FNO whose input is noise and images, one after the other; as many of its channels as the PDE has
// are its own, the rest are conditions. It is trained by posterior_objective.h. On a GPU the fused kernels take 14
// images and noise channels in all: two fields and 4 channels of noise are 12; three fields and 2 are 14.

#include "piddm/model/heads.h"
#include "piddm/posterior/encoding.h"

namespace piddm {

/// Conditions of the network of a posterior: noise and images that are not among its own channels.
int64_t posterior_conditions(const Pde& pde, const DrawOptions& draw);

class PosteriorStudent {
 public:
  /// A UsageError where network, heads and PDE do not go together.
  PosteriorStudent(const Model& model, const HeadOptions& heads);
  explicit PosteriorStudent(const Model& model) : PosteriorStudent(model, model.heads) {}

  /// The noise of draws first..first+count-1 of a seed's stream.
  Tensor noise(uint64_t seed, Stream stream, int64_t first, int64_t count) const;

  /// z, [B,C,H,W] network units, from noise and images of B draws.
  Tensor operator()(const Tensor& noise, const Tensor& images) const;

  /// Images of what is known of `count` cases; of an empty target: nothing.
  Tensor images(const Target& known, int64_t count) const;

  /// From here on the corrector hands no gradient to the coefficients: training that moves u only.
  void freeze_coefficients() { heads_.freeze_coefficients(); }

 private:
  NetworkPtr network_;
  PdePtr pde_;
  DrawOptions draw_;
  torch::Device device_;
  Heads heads_;
};

}  // namespace piddm
