#include "piddm/files/free_space.h"

#include <sys/statvfs.h>

#include "piddm/core/available_memory.h"
#include "piddm/core/error.h"

namespace piddm {

namespace fs = std::filesystem;

void require_free_space(const fs::path& path, double bytes) {
  struct statvfs disk {};
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (::statvfs(folder.c_str(), &disk) != 0) return;  // a disk that does not tell will refuse the bytes itself
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  require<ResourceError>(bytes <= free,
                         "{}: writing it takes {}, but {} are free: clear some, choose another disk or take fewer",
                         path.string(), format_bytes(bytes), format_bytes(free));
}

}  // namespace piddm
