#pragma once
// A file descriptor that is closed, and its lock given up, at the end of the scope.

#include <unistd.h>

namespace piddm {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }  ///< negative: opening it failed

 private:
  int fd_;
};

}  // namespace piddm
