#pragma once
// Networks whose features Frechet distances are taken in.
//
// fpd              Frechet Poseidon distance of the first solution channel; fpd_NAME of every other field channel, each
//                  fed alone (the extension to several channels is ours). Physical units, no scaling.
// frechet_teacher  the stand-in where no Poseidon checkpoint is at hand, in the velocity features of a teacher of ours
//                  that was trained on data of the same PDE: v(z,t) of the sample z in network units at t = 0.05, 0.2,
//                  0.5, 0.8, and of each channel of v the mean and the root mean square over 4x4 blocks: 128 features
//                  per channel. At small t the velocity is what the teacher takes for noise in z, over t, so detail
//                  that no true sample has weighs much. Values compare only within one teacher, never with FPD.

#include <functional>
#include <string>
#include <vector>

#include "piddm/eval/poseidon/scot.h"
#include "piddm/model/model.h"

namespace piddm {

struct FeatureMetric {
  std::string name;
  std::function<Tensor(const Tensor& x)> features;  ///< [N,C,H,W] physical -> [N,d] on the CPU
};

/// One for each field channel of the PDE.
std::vector<FeatureMetric> poseidon_metrics(const ScotEncoder& encoder, const Pde& pde);

/// A UsageError unless the model is a teacher of this PDE.
FeatureMetric teacher_metric(const Model& teacher, const Pde& pde);

}  // namespace piddm
