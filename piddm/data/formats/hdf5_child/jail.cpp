#include "piddm/data/formats/hdf5_child/jail.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string>

#include "piddm/data/formats/hdf5_child/handle.h"

#ifdef PIDDM_SECCOMP
#include <seccomp.h>
#endif

namespace piddm::hdf5_child {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw ResourceFailure(what + " (" + std::strerror(errno) +
                        "), and HDF5 files are not read or written without: see the limits of this shell or container");
}

/// At most `value`: a lower limit from outside stays.
template <class Resource>
void limit(Resource what, uint64_t value) {
  rlimit both{};
  if (::getrlimit(what, &both) != 0) refuse("no resource limits");
  both.rlim_cur = both.rlim_max = std::min<rlim_t>(value, both.rlim_max);
  if (::setrlimit(what, &both) != 0) refuse("no resource limits");
}

uint64_t address_space() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

#ifdef PIDDM_SECCOMP
bool allow(scmp_filter_ctx filter, std::initializer_list<int> calls) {
  for (const int call : calls)
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) != 0) return false;
  return true;
}

/// Memory that can never be executed.
bool allow_memory(scmp_filter_ctx filter) {
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)})
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) != 0) return false;
  return allow(filter, {SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(brk), SCMP_SYS(madvise)});
}

bool load_filter(Access access) {
  const auto filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == nullptr) return false;
  bool good = allow_memory(filter) &&
              allow(filter, {SCMP_SYS(write), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(futex),
                             SCMP_SYS(getrandom), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(time),
                             SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(restart_syscall)});
  if (access == Access::write)
    good = good && allow(filter, {SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(pwrite64), SCMP_SYS(lseek),
                                  SCMP_SYS(ftruncate), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(close)});
  const int failed = good ? -seccomp_load(filter) : ENOMEM;
  seccomp_release(filter);
  errno = failed;
  return failed == 0;
}
#endif

}  // namespace

void enter_jail(const Limits& limits, [[maybe_unused]] Access access) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refuse("no jail");
  limit(RLIMIT_AS, address_space() + limits.memory_bytes);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_CORE, 0);
#ifdef PIDDM_SECCOMP
  if (!load_filter(access)) refuse("no filter of system calls");
  if (::open("/dev/null", O_RDONLY) >= 0 || errno != EPERM) refuse("the filter of system calls has no effect");
#endif
}

bool filters_calls() {
#ifdef PIDDM_SECCOMP
  return true;
#else
  return false;
#endif
}

}  // namespace piddm::hdf5_child
