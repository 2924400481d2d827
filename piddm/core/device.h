#pragma once
// Where and with how many threads to compute, and what machine this is.

#include <string>

#include "piddm/core/fields.h"
#include "piddm/core/tensor.h"

namespace piddm {

/// "auto" (CUDA if there is any), "cpu", "cuda" or "cuda:1". What is not there is a ResourceError.
torch::Device resolve_device(const std::string& name);

/// Threads of LibTorch, OpenMP and BLAS together. 0 takes OMP_NUM_THREADS where that is set, else every core; more than
/// the machine has is a UsageError. LibTorch's own default here is one thread, and results depend on the count in the
/// last bits, so it is always set and recorded.
int set_threads(int threads);

/// One thread while it lives: LAPACK's threads wait for each other longer than they compute on matrices of a few
/// hundred rows, above all on a busy machine.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// CPU, cores, SIMD level, memory, GPU, LibTorch version, build: written into every result.
json describe_machine();

}  // namespace piddm
