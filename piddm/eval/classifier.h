#pragma once
// A two-sample test by a classifier (Lopez-Paz and Oquab, ICLR 2017): a small convolutional network is trained to tell
// generated fields from true ones and asked about fields it has not seen. 50 % right answers mean that it cannot.
//
// What it sees of a field: each channel and its five-point Laplacian, in units of their standard deviation over the
// true training fields, and the two coordinates. Levels of two 3x3 convolutions, the first at full resolution with
// `width` channels, each further one at half the resolution of the one before with twice that width, down to four cells
// per side; leaky ReLUs. The means of all levels over space, normalised over the batch, go through one hidden layer to
// one number: it judges by texture at every scale, and the coordinates let it say where. In training fields are
// flipped and turned at random, coordinates included; answers are means over all positions. Float32, Adam, one cycle of
// the learning rate. Nothing is tuned per generator.

#include <cstdint>

#include "piddm/core/tensor.h"

namespace piddm {

/// The same for every generator that is compared.
struct ClassifierRecipe {
  int64_t width = 16;
  int64_t steps = 1000;
  int64_t batch = 32;  ///< fields of each kind
  double lr = 5e-3;    ///< the largest learning rate
  uint64_t seed = 0;   ///< of weights, batches and the split
};

/// Of the first n = min(N,M) fields of generated [N,C,H,W] and of true ones [M,C,H,W], n >= 8, a random quarter of each
/// is held out and the others train the classifier. Answers about the held-out fields, first the generated ones: 1
/// where the classifier was right, else 0; [2 (n/4)] float64 on the CPU. Trained on the device of the true fields; on
/// one device a function of the fields and the recipe.
Tensor told_apart(const Tensor& generated, const Tensor& truth, const ClassifierRecipe& recipe);

}  // namespace piddm
