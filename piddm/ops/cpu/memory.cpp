#include "piddm/ops/cpu/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>

#include "piddm/core/error.h"

namespace piddm::cpu {
namespace {

constexpr int64_t kPooled = 256 << 10, kHugePage = 2 << 20, kKept = 1 << 30;

/// Free blocks by their size in bytes. Tensors may outlive static objects, so the pool is never destroyed.
class Pool {
 public:
  static Pool& get() {
    static auto* pool = new Pool;
    return *pool;
  }

  void* take(int64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = free_.find(bytes);
      if (found != free_.end()) {
        void* block = found->second;
        free_.erase(found);
        kept_ -= bytes;
        return block;
      }
    }
    const bool huge = bytes >= 2 * kHugePage;
    const int64_t unit = huge ? kHugePage : 4096;
    void* block = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
    require<DataError>(block != nullptr, "out of memory: {} bytes for a tensor", bytes);
    if (huge) madvise(block, bytes, MADV_HUGEPAGE);
    return block;
  }

  /// Room for a block that would be too much is made by letting go of all others.
  void give(void* block, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (kept_ + bytes > kKept) {
      for (const auto& [size, other] : free_) std::free(other);
      free_.clear();
      kept_ = 0;
    }
    free_.emplace(bytes, block);
    kept_ += bytes;
  }

 private:
  std::mutex mutex_;
  std::multimap<int64_t, void*> free_;
  int64_t kept_ = 0;
};

}  // namespace

Tensor fresh(at::IntArrayRef sizes) {
  const int64_t bytes = std::accumulate(sizes.begin(), sizes.end(), int64_t{4}, std::multiplies<>());
  if (bytes < kPooled) return torch::empty(sizes, torch::kFloat32);
  return torch::from_blob(
      Pool::get().take(bytes), sizes, [bytes](void* block) { Pool::get().give(block, bytes); }, torch::kFloat32);
}

}  // namespace piddm::cpu
