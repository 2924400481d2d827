#pragma once
// Files in memory, for the thousands of damaged versions of one file.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace piddm::testing {

class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("piddm-test", MFD_CLOEXEC)) {
    if (fd_ < 0) std::abort();
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(fd_); }

  void set(std::string_view text) const {
    if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      std::abort();
  }

 private:
  int fd_;
};

}  // namespace piddm::testing
