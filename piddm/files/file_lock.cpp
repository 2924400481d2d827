#include "piddm/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "piddm/core/error.h"

namespace piddm {

std::optional<FileLock> FileLock::try_acquire(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  require<ResourceError>(descriptor >= 0, "cannot create {}: {}", file.string(), std::strerror(errno));
  FileLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return lock;
  require<ResourceError>(errno == EWOULDBLOCK, "cannot lock {}: {}", file.string(), std::strerror(errno));
  return {};
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace piddm
