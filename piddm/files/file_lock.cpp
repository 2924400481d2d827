#include "piddm/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "piddm/core/error.h"

namespace piddm {

namespace {

/// Whether the open file is still the one of this name: its last holder may have removed it meanwhile.
bool has_name(int descriptor, const std::filesystem::path& file) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

std::optional<FileLock> FileLock::try_acquire(const std::filesystem::path& file, Afterwards afterwards) {
  const bool remove = afterwards == Afterwards::remove;
  for (;;) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    require<ResourceError>(descriptor >= 0, "cannot create {}: {}", file.string(), std::strerror(errno));
    FileLock lock(descriptor, {});
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      require<ResourceError>(errno == EWOULDBLOCK, "cannot lock {}: {}", file.string(), std::strerror(errno));
      return {};
    }
    if (remove && !has_name(descriptor, file)) continue;
    if (remove) lock.doomed_ = file;
    return lock;
  }
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  if (!doomed_.empty()) ::unlink(doomed_.c_str());  // while it is held: nobody else can hold a file of this name
  ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), doomed_(std::move(other.doomed_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(doomed_, other.doomed_);
  return *this;
}

}  // namespace piddm
