#include "piddm/core/cuda.h"

#ifdef PIDDM_WITH_CUDA

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <ATen/cuda/CUDAGraphsUtils.cuh>

namespace piddm::cuda {

Stream current_stream() { return at::cuda::getCurrentCUDAStream().stream(); }

void synchronize() { c10::cuda::device_synchronize(); }

bool recording() { return at::cuda::currentStreamCaptureStatus() != at::cuda::CaptureStatus::None; }

int64_t peak_memory() {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(c10::cuda::current_device());
  return stats.allocated_bytes[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)].peak;
}

void reset_peak_memory() { c10::cuda::CUDACachingAllocator::resetPeakStats(c10::cuda::current_device()); }

int64_t free_memory(torch::Device device) {
  const c10::cuda::CUDAGuard guard(device.has_index() ? device.index() : c10::cuda::current_device());
  size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(c10::cuda::current_device());
  const auto whole = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return static_cast<int64_t>(free) + stats.reserved_bytes[whole].current - stats.allocated_bytes[whole].current;
}

struct Graph::State {
  at::cuda::CUDAGraph graph;
};

Graph::Graph(const std::function<void()>& work, int warmup) : state_(std::make_unique<State>()) {
  const auto stream = at::cuda::getStreamFromPool();
  synchronize();
  {
    const c10::cuda::CUDAStreamGuard guard(stream);
    for (int i = 0; i < warmup; ++i) work();
    synchronize();
    state_->graph.capture_begin();
    try {
      work();
    } catch (...) {
      state_->graph.capture_end();
      throw;
    }
    state_->graph.capture_end();
  }
  synchronize();
}

// Its memory goes back to the GPU: other shapes could not use it.
Graph::~Graph() {
  state_.reset();
  try {
    c10::cuda::CUDACachingAllocator::emptyCache();
  } catch (const c10::Error&) {  // the program is ending and the GPU is already gone
  }
}

void Graph::replay() { state_->graph.replay(); }

}  // namespace piddm::cuda

#endif
