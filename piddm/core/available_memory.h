#pragma once
// How much memory there is, and a refusal in time of what does not fit.

#include <string>

#include "piddm/core/tensor.h"

namespace piddm {

/// A number of kB in a file of lines "key: number kB", in bytes; -1 where there is none.
int64_t kilobytes_in(const std::string& file, const std::string& key);

/// Bytes this process can still take. CPU: the smallest of what the machine has available, what is left of a cgroup's
/// limit and what is left of the process's address space (ulimit -v). GPU: what is free on it (without CUDA kernels in
/// the build: no limit).
int64_t available_memory(torch::Device device);

/// "1.5 GiB"
std::string format_bytes(double bytes);

/// A ResourceError where `count`, the value of `option`, times `bytes_each` is more than there is; it says what would
/// fit.
void require_memory(const std::string& option, int64_t count, int64_t bytes_each, torch::Device device);

}  // namespace piddm
