#include "piddm/files/pinned_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace piddm {

PinnedFolder::PinnedFolder(const std::filesystem::path& path)
    : path_(path), fd_(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

PinnedFolder::~PinnedFolder() {
  if (fd_ >= 0) ::close(fd_);
}

// The open descriptor keeps the number of the old folder from being given to a new one.
bool PinnedFolder::replaced() const {
  struct stat before {
  }, now{};
  const bool was = fd_ >= 0 && ::fstat(fd_, &before) == 0, is = ::stat(path_.c_str(), &now) == 0;
  return was != is || (was && (before.st_dev != now.st_dev || before.st_ino != now.st_ino));
}

void detail::wait_for_generation(int number) {
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(number, 20)));
}

}  // namespace piddm
