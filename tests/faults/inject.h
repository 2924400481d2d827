#pragma once
// Faults of a file system, injected at the k-th system call: write, rename and their like are defined here and hand on
// to the kernel. Linked into a test they act in that process; as the library piddm_inject they are preloaded into any
// program. Only calls on paths below one folder count. Knows nothing of piddm.
//
// For a preloaded program the environment says what to do:
//   PIDDM_INJECT="io_error 17 /folder"   the fault, at which call, below which folder; call 0: only count
//   PIDDM_INJECT_COUNT=FILE              the number of calls is written there at the end
//   PIDDM_INJECT_CLOCK=1                 the time of day jumps by hours, back and forth, at every look

#include <array>
#include <cstdint>

namespace piddm::testing {

enum class Fault : uint8_t {
  no_space,     ///< ENOSPC, from that call on
  io_error,     ///< EIO, once
  interrupted,  ///< EINTR, once
  short_write,  ///< half of the bytes are written
  torn_write,   ///< half of the bytes, then the process is killed
  kill_before,  ///< killed instead of the call
  kill_after,   ///< killed right after it
};

constexpr std::array kFaults = {Fault::no_space,   Fault::io_error,    Fault::interrupted, Fault::short_write,
                                Fault::torn_write, Fault::kill_before, Fault::kill_after};
const char* fault_name(Fault fault);

struct Injection {
  Fault fault = Fault::io_error;
  int64_t at = 0;            ///< the first call is 1; 0: none, only counted
  bool can_exchange = true;  ///< false: renameat2 knows no RENAME_EXCHANGE, as on some file systems
};

/// From now on, in this process. fsync does nothing then: it takes long, and a process that dies loses nothing by it.
void inject(const char* folder, const Injection& injection);

/// How many calls this fault could have hit so far.
int64_t injectable_calls();

}  // namespace piddm::testing
