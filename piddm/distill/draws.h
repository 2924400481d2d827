#pragma once
// Random numbers of a training step that needs several: each has a slot of its own, so no two uses share bits and a
// step needs no memory of the last.

#include <vector>

#include "piddm/core/rng.h"
#include "piddm/model/model.h"

namespace piddm {

class Draws {
 public:
  /// Samples shaped as those of `model`, on its device.
  Draws(const Model& model, uint64_t seed, int64_t batch, int64_t slots)
      : seed_(seed), batch_(batch), slots_(slots), shape_(model.pde->sample_shape()), device_(model.device()) {}

  /// Standard normals [B,C,H,W] and uniforms on (0,1) [B] of this step.
  Tensor normal(int64_t step, int64_t slot) const {
    return piddm::normal(seed_, Stream::noise, first(step, slot), batch_, shape_, torch::kFloat32, device_);
  }
  Tensor uniform(int64_t step, int64_t slot) const {
    return piddm::uniform(seed_, Stream::time, first(step, slot), batch_, {}, torch::kFloat32, device_);
  }

 private:
  int64_t first(int64_t step, int64_t slot) const { return (step * slots_ + slot) * batch_; }

  uint64_t seed_;
  int64_t batch_, slots_;
  std::vector<int64_t> shape_;
  torch::Device device_;
};

}  // namespace piddm
