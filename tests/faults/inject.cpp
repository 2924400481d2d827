#include "tests/faults/inject.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace piddm::testing {

namespace {

enum class Call { create, write, sync, close, rename, make_folder, remove, truncate };

char folder_below[4096] = "";
size_t folder_length = 0;  // 0: nothing is injected
Injection plan;
std::atomic<int64_t> calls = 0;
std::atomic<int64_t> looks = 0;
bool clock_jumps = false;
char count_file[4096] = "";

bool applies(Call call) {
  switch (plan.fault) {
    case Fault::no_space:
      return call != Call::close && call != Call::remove && call != Call::truncate;
    case Fault::interrupted:
      return call != Call::rename && call != Call::make_folder && call != Call::remove;
    case Fault::short_write:
    case Fault::torn_write:
      return call == Call::write;
    default:
      return true;
  }
}

bool below(const char* path) {
  return folder_length > 0 && strncmp(path, folder_below, folder_length) == 0 &&
         (path[folder_length] == '/' || path[folder_length] == '\0');
}

bool below(int fd) {
  if (folder_length == 0) return false;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const auto length = syscall(SYS_readlink, link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return below(path);
}

bool below(int fd, const char* path) { return path[0] == '/' || fd == AT_FDCWD ? below(path) : below(fd); }

[[noreturn]] void die() {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

int refuse(int code) {
  errno = code;
  return -1;
}

/// The call itself, or the fault in its place. `half` does half of it.
template <class Real, class Half>
long judge(Call call, bool counts, Real real, Half half) {
  const int before = errno;
  if (!counts || !applies(call)) return real();
  const auto number = ++calls;
  errno = before;
  const bool hit = plan.at > 0 && (plan.fault == Fault::no_space ? number >= plan.at : number == plan.at);
  if (!hit) return real();
  if (call == Call::close && plan.fault != Fault::kill_before) real();
  switch (plan.fault) {
    case Fault::no_space:
      return refuse(ENOSPC);
    case Fault::io_error:
      return refuse(EIO);
    case Fault::interrupted:
      return refuse(EINTR);
    case Fault::short_write:
      return half();
    case Fault::torn_write:
      half();
      die();
    case Fault::kill_after:
      if (call != Call::close) real();
      die();
    default:
      die();
  }
}

template <class Real>
int judge(Call call, bool counts, Real real) {
  return static_cast<int>(judge(call, counts, real, real));
}

int open_file(int at, const char* path, int flags, mode_t mode) {
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return judge(Call::create, creates && below(at, path), [&] { return syscall(SYS_openat, at, path, flags, mode); });
}

int sync_file(int fd, long number) {
  const bool counts = below(fd);
  return judge(Call::sync, counts, [&] { return counts ? 0L : syscall(number, fd); });
}

__attribute__((constructor)) void read_environment() {
  clock_jumps = getenv("PIDDM_INJECT_CLOCK") != nullptr;
  const char* text = getenv("PIDDM_INJECT");
  if (text == nullptr) return;
  char name[32] = "", folder[4096] = "";
  long long at = 0;
  if (sscanf(text, "%31s %lld %4095s", name, &at, folder) != 3) abort();
  for (const auto fault : kFaults)
    if (strcmp(name, fault_name(fault)) == 0) plan.fault = fault;
  if (const char* file = getenv("PIDDM_INJECT_COUNT")) snprintf(count_file, sizeof count_file, "%s", file);
  unsetenv("LD_PRELOAD");  // not into its children
  inject(folder, {plan.fault, at});
}

__attribute__((destructor)) void report() {
  if (count_file[0] == '\0') return;
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666));
  char text[32];
  const int length = snprintf(text, sizeof text, "%lld", static_cast<long long>(calls.load()));
  syscall(SYS_write, fd, text, length);
  syscall(SYS_close, fd);
}

}  // namespace

const char* fault_name(Fault fault) {
  constexpr std::array names = {"no_space",   "io_error",    "interrupted", "short_write",
                                "torn_write", "kill_before", "kill_after"};
  return names[static_cast<size_t>(fault)];
}

void inject(const char* folder, const Injection& injection) {
  plan = injection;
  calls = 0;
  snprintf(folder_below, sizeof folder_below, "%s", folder);
  folder_length = strlen(folder_below);
}

int64_t injectable_calls() { return calls; }

}  // namespace piddm::testing

using namespace piddm::testing;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>(va_arg(list, int));
  va_end(list);
  return open_file(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>(va_arg(list, int));
  va_end(list);
  return open_file(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>(va_arg(list, int));
  va_end(list);
  return open_file(at, path, flags, mode);
}

ssize_t write(int fd, const void* data, size_t bytes) {
  return judge(
      Call::write, below(fd), [&] { return syscall(SYS_write, fd, data, bytes); },
      [&] { return syscall(SYS_write, fd, data, (bytes + 1) / 2); });
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) {
  return judge(
      Call::write, below(fd), [&] { return syscall(SYS_pwrite64, fd, data, bytes, at); },
      [&] { return syscall(SYS_pwrite64, fd, data, (bytes + 1) / 2, at); });
}

int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

int close(int fd) {
  return judge(Call::close, below(fd), [&] { return syscall(SYS_close, fd); });
}

int rename(const char* from, const char* to) noexcept {
  return judge(Call::rename, below(to), [&] { return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0); });
}

int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) noexcept {
  const bool counts = below(to_at, to);
  if (counts && !plan.can_exchange && flags != 0) return refuse(EINVAL);
  return judge(Call::rename, counts, [&] { return syscall(SYS_renameat2, from_at, from, to_at, to, flags); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  return judge(Call::make_folder, below(path), [&] { return syscall(SYS_mkdirat, AT_FDCWD, path, mode); });
}

int unlink(const char* path) noexcept {
  return judge(Call::remove, below(path), [&] { return syscall(SYS_unlinkat, AT_FDCWD, path, 0); });
}

int unlinkat(int at, const char* path, int flags) noexcept {
  return judge(Call::remove, below(at, path), [&] { return syscall(SYS_unlinkat, at, path, flags); });
}

int ftruncate(int fd, off_t length) noexcept {
  return judge(Call::truncate, below(fd), [&] { return syscall(SYS_ftruncate, fd, length); });
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (clock_jumps && result == 0 && clock == CLOCK_REALTIME) now->tv_sec += (looks++ % 2 == 0 ? 5 : -5) * 3600;
  return result;
}

}  // extern "C"
