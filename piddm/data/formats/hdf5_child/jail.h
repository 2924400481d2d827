#pragma once
// Limits the child puts on itself before it looks at a single byte of the file.

#include <cstdint>

namespace piddm::hdf5_child {

enum class Access { read, write };

struct Limits {
  uint64_t memory_bytes = 0;  ///< address space on top of what is in use already (and of the mapped file)
  uint64_t cpu_seconds = 0;
  uint64_t file_bytes = 0;  ///< largest file it may write
};

/// Resource limits, no new privileges, death with the parent, and a list of the system calls that are still allowed:
/// memory, writing to open files, time and exit; when writing also reading and seeking in open files. Any other call,
/// opening a file above all, fails with EPERM. A ResourceFailure where a part of this cannot be had, so that no file is
/// looked at outside. A build without libseccomp has the resource limits only.
void enter_jail(const Limits& limits, Access access);

/// Whether this build filters system calls.
bool filters_calls();

}  // namespace piddm::hdf5_child
