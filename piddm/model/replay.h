#pragma once
// Inference on a GPU as one launch: after a few calls with the same shapes a network's forward pass is recorded
// (core/cuda.h) and played back.
//
// A batch of few samples is otherwise bound by the time it takes to launch some thirty kernels. Recorded are calls
// without gradients on at most kReplayPoints grid points in all; what is recorded reserves its memory, so at most
// kReplayGraphs shapes are, the least recently used goes first. A recording reads weights where they lie: changing them
// in place is seen, moving them (another tensor, device or precision) makes a new one.

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "piddm/core/cuda.h"
#include "piddm/core/tensor.h"

namespace piddm {

inline constexpr int64_t kReplayPoints = 16 * 128 * 128;
inline constexpr size_t kReplayGraphs = 4;
inline constexpr int kReplayAfter = 3;  ///< calls of the same kind before one is recorded

class Replay {
 public:
  using Forward = std::function<Tensor(const Tensor& x, const Tensor& t)>;

  /// forward(x, t), from the recording if there is one. `kind` names everything but the shapes that the recording
  /// depends on.
  Tensor operator()(const std::string& kind, const Tensor& x, const Tensor& t, const Forward& forward);

  /// Whether this call may be recorded: on a GPU, small, no gradients wanted, and not inside another recording.
  static bool takes(const Tensor& x, const Tensor& t);

 private:
  struct Entry {
    std::string key;
    int calls = 0;
    Tensor x, t, y;
    std::shared_ptr<cuda::Graph> graph;
  };
  Entry& entry(const std::string& key);

  std::list<Entry> entries_;  ///< most recently used first
};

}  // namespace piddm
