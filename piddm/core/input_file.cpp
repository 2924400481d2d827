#include "piddm/core/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "piddm/core/error.h"

namespace piddm {

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not hang the open; it is refused below
  if (fd_ < 0 && (errno == ENOENT || errno == ENOTDIR)) throw DataError("{}: no such file", path_.string());
  require<ResourceError>(fd_ >= 0, "cannot open {}: {}", path_.string(), std::strerror(errno));
  struct stat info {};
  if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd_);
    throw DataError("{}: not a regular file", path_.string());
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::read(uint64_t offset, void* data, size_t bytes) const {
  require<DataError>(offset <= size_ && bytes <= size_ - offset, "{}: truncated (needs {} bytes at {}, has {})",
                     path_.string(), bytes, offset, size_);
  auto* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd_, next, std::min<size_t>(bytes, size_t{1} << 30), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    require<ResourceError>(got >= 0, "cannot read {}: {}", path_.string(), std::strerror(errno));
    require<DataError>(got > 0, "{}: became shorter while it was read", path_.string());
    next += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
}

std::string read_file(const std::filesystem::path& path, size_t max_bytes) {
  const InputFile file(path);
  require<DataError>(file.size() <= max_bytes, "{}: {} bytes, more than the {} allowed here", path.string(),
                     file.size(), max_bytes);
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  return text;
}

}  // namespace piddm
