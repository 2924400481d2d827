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
/// opening a file above all, fails with EPERM. False where the kernel or the build has no such filter: then only the
/// resource limits hold.
bool enter_jail(const Limits& limits, Access access);

/// Whether opening a file is refused now, tried out.
bool cannot_open_files();

}  // namespace piddm::hdf5_child
