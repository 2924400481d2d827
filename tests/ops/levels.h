#pragma once
// Tests of the CPU kernels run once per instruction set the CPU has.

#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <utility>

#include "piddm/ops/cpu/kernels.h"
#include "tests/testing.h"

namespace piddm::testing {

/// Forces a level while it lives.
class ForcedLevel {
 public:
  explicit ForcedLevel(cpu::SimdLevel level) : before_(cpu::kernels().level) { cpu::force_level(level); }
  ~ForcedLevel() { cpu::force_level(before_); }
  ForcedLevel(const ForcedLevel&) = delete;
  ForcedLevel& operator=(const ForcedLevel&) = delete;

 private:
  cpu::SimdLevel before_;
};

inline std::string level_name(cpu::SimdLevel level) { return enum_names(level)[static_cast<size_t>(level)]; }

/// While it lives, memory that ATen hands out on the CPU and the scratch memory of this thread, then the only one, are
/// full of NaN: what a kernel leaves unwritten, or reads before it has written it, shows.
class PoisonedMemory : public c10::Allocator {
 public:
  PoisonedMemory() : real_(c10::GetCPUAllocator()), threads_(torch::get_num_threads()) {
    c10::SetCPUAllocator(this, 100);
    torch::set_num_threads(1);
    constexpr int64_t kFloats = 1 << 21;
    std::fill_n(cpu::scratch(kFloats), kFloats, NAN);
  }
  ~PoisonedMemory() override {
    c10::SetCPUAllocator(real_, 100);
    torch::set_num_threads(threads_);
  }

  // Without the word override: it is const in LibTorch 1.13 and not in 2.
  c10::DataPtr allocate(size_t bytes) { return std::as_const(*this).allocate(bytes); }
  c10::DataPtr allocate(size_t bytes) const {
    auto memory = real_->allocate(bytes);
    if (bytes > 0) std::memset(memory.get(), 0xff, bytes);  // every float and double with all bits set is a NaN
    return memory;
  }
  c10::DeleterFnPtr raw_deleter() const override { return real_->raw_deleter(); }
  void copy_data(void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }  // asked for by LibTorch 2

 private:
  c10::Allocator* real_;
  int threads_;
};

}  // namespace piddm::testing
