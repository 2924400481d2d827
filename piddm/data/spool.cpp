#include "piddm/data/spool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "piddm/core/error.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/tensor_map.h"

namespace piddm {

namespace {

/// Some file systems know no files without a name: there it gets one for a moment. A kill in that moment leaves the
/// name of a temporary (atomic_file.h), which the next spool removes.
int open_unnamed(const std::filesystem::path& folder) {
  remove_stale_temporaries_of(folder / "spool");
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  int named = -1;
  for (int k = 0; named < 0; ++k) {
    const auto name = folder / fmt::format(".spool.{}.tmp", k);
    named = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (named >= 0) ::unlink(name.c_str());
    if (named < 0 && errno != EEXIST) break;
  }
  return named;
}

}  // namespace

Spool::Spool(const std::filesystem::path& folder, torch::ScalarType dtype)
    : folder_(folder.empty() ? "." : folder), dtype_(dtype), fd_(open_unnamed(folder_)) {
  require<ResourceError>(fd_ >= 0, "cannot create a temporary file in {}: {}", folder_.string(), std::strerror(errno));
}

Spool::~Spool() { ::close(fd_); }

void Spool::append(const Tensor& x) {
  const auto values = packed(x.to(dtype_));
  auto bytes = bytes_of(values);
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    require<ResourceError>(written > 0, "cannot write a temporary file in {}: {}", folder_.string(),
                           std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (shape_.empty()) {
    shape_ = values.sizes().vec();
  } else {
    shape_[0] += values.size(0);
  }
}

Tensor Spool::map() const {
  require<DataError>(!shape_.empty(), "an empty spool has no values");
  size_t bytes = c10::elementSize(dtype_);
  for (const int64_t size : shape_) bytes *= static_cast<size_t>(size);
  void* begin = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_, 0);
  require<ResourceError>(begin != MAP_FAILED, "cannot map a temporary file in {}: {}", folder_.string(),
                         std::strerror(errno));
  return torch::from_blob(
      begin, shape_, [bytes](void* at) { ::munmap(at, bytes); }, dtype_);
}

}  // namespace piddm
