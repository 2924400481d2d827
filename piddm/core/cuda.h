#pragma once
// The little that piddm needs from LibTorch's CUDA side, in one place; every function may be called only where there is
// a GPU.

#include <functional>
#include <memory>

#include "piddm/core/tensor.h"
#include "piddm/cuda/built.h"

namespace piddm::cuda {

/// The stream on which LibTorch puts its work for this thread.
Stream current_stream();

void synchronize();

/// Whether this thread's work is being recorded into a graph.
bool recording();

/// Bytes of GPU memory LibTorch has handed out: the most since the last call of reset_peak_memory().
int64_t peak_memory();
void reset_peak_memory();

/// Bytes that LibTorch can still hand out on this GPU: free ones, and those it keeps for later.
int64_t free_memory(torch::Device device);

/// Work recorded once and played back as one launch. The work must do the same operations on the same memory each time
/// and must not wait for the GPU; what it allocates stays reserved for the graph. What changes from one replay to the
/// next lies in tensors that the caller overwrites.
class Graph {
 public:
  /// Runs `work` `warmup` times on a stream of its own, then records it.
  explicit Graph(const std::function<void()>& work, int warmup = 2);
  ~Graph();
  void replay();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace piddm::cuda
