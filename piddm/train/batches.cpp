#include "piddm/train/batches.h"

namespace piddm {

const Tensor& BatchOrder::epoch(int64_t index) {
  if (index != cached_) {
    order_ = permutation(seed_, Stream::batches, index, samples_);
    cached_ = index;
  }
  return order_;
}

Tensor BatchOrder::batch(int64_t step) {
  std::vector<Tensor> parts;
  for (int64_t at = step * batch_, end = at + batch_; at < end;) {
    const int64_t offset = at % samples_, n = std::min(end - at, samples_ - offset);
    parts.push_back(epoch(at / samples_).narrow(0, offset, n));
    at += n;
  }
  return torch::cat(parts);
}

}  // namespace piddm
