#include "piddm/files/atomic_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <regex>
#include <utility>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/files/descriptor.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr int kMostWriters = 16;  // of one name at a time, as far as their remains are looked for
constexpr size_t kMaxName = 235;  // room for the rest of a temporary name within the 255 bytes of a file name

[[noreturn]] void throw_system_error(const char* what, const fs::path& path, int code = errno) {
  const bool full = code == ENOSPC || code == EDQUOT;
  throw ResourceError("cannot {} {}: {}{}", what, path.string(), std::strerror(code),
                      full ? "; make room there or choose another folder" : "");
}

fs::path without_trailing_slash(fs::path path) { return path.has_filename() ? path : path.parent_path(); }

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// ".name.K.tmp", or ".old": a folder that is being replaced where the two cannot be exchanged.
fs::path hidden_name(const fs::path& path, int k, const char* suffix = "tmp") {
  return folder_of(path) / fmt::format(".{}.{}.{}", path.filename().string().substr(0, kMaxName), k, suffix);
}

void remove_quietly(const fs::path& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

bool is_there(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

bool is_at(int fd, const fs::path& path) {
  struct stat mine = {}, there = {};
  return ::fstat(fd, &mine) == 0 && ::lstat(path.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

bool wait_for_lock(int fd, int operation) {
  int result = 0;
  while ((result = ::flock(fd, operation)) != 0 && errno == EINTR) {
  }
  return result == 0;
}

int make_folder(const fs::path& name) {
  if (::mkdir(name.c_str(), 0777) != 0) return -1;
  const int fd = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), code = errno;
  if (fd < 0) ::rmdir(name.c_str());
  errno = code;
  return fd;
}

int make_file(const fs::path& name) {
  return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
}

int open_for_lock(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  return fd < 0 && errno == EISDIR ? ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : fd;
}

int lock_folder(const fs::path& path) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) throw_system_error("open", path);
    wait_for_lock(fd, LOCK_EX);
    if (is_at(fd, path)) return fd;
    ::close(fd);
  }
}

/// What nobody holds any more; false where it is not there, another process is at it, or the file system has no locks.
bool remove_if_abandoned(const fs::path& path) {
  const Descriptor file(open_for_lock(path));
  if (file.get() < 0 || !wait_for_lock(file.get(), LOCK_EX | LOCK_NB) || !is_at(file.get(), path)) return false;
  remove_quietly(path);
  return !is_there(path);
}

struct Temporary {
  fs::path path;
  int fd;  ///< holds the lock
};

/// A new file or folder beside `target`, locked so that nobody takes it for abandoned. `make` makes and opens it.
Temporary make_temporary(const fs::path& target, int (*make)(const fs::path&)) {
  for (int k = 0;; ++k) {
    const auto path = hidden_name(target, k);
    const int fd = make(path), code = errno;
    if (fd < 0) {
      const bool again = code == EEXIST || (code == ENOENT && is_there(folder_of(target)));
      if (!again || k == 9999) throw_system_error("create", target, code);
      continue;
    }
    wait_for_lock(fd, LOCK_EX);  // held by others only to see whether this is abandoned, and to remove it
    if (is_at(fd, path)) return {path, fd};
    ::close(fd);
  }
}

void sync_path(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_system_error("open", path);
  const int failed = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  // Some network file systems cannot sync a folder and say EINVAL; their renames are ordered by the server.
  if (failed != 0 && failed != EINVAL) throw_system_error("sync", path, failed);
}

void sync_tree(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && !entry.is_symlink()) {
      sync_tree(entry.path());
    } else if (entry.is_regular_file()) {
      sync_path(entry.path());
    }
  }
  sync_path(folder);
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  std::error_code ignored;
  const auto status = fs::status(path_, ignored);
  require<ResourceError>(!fs::exists(status) || fs::is_regular_file(status), "cannot write {}: not a regular file",
                         path_.string());
  remove_stale_temporaries_of(path_);
  auto made = make_temporary(path_, make_file);
  temporary_ = std::move(made.path);
  fd_ = made.fd;
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (fd_ >= 0) ::close(fd_);
}

void AtomicFile::write(const void* data, size_t bytes) {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd_, next, std::min<size_t>(bytes, size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw_system_error("write", path_, written == 0 ? EIO : errno);
    next += written;
    bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  if (::fsync(fd_) != 0) throw_system_error("sync", path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_system_error("rename to", path_);
  temporary_.clear();
  ::close(std::exchange(fd_, -1));  // only now: the lock goes with it
  sync_path(folder_of(path_));
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

AtomicFolder::AtomicFolder(fs::path path) : path_(without_trailing_slash(std::move(path))) {
  std::error_code ignored;
  recover_folder(path_);
  const auto status = fs::status(path_, ignored);
  require<ResourceError>(!fs::exists(status) || fs::is_directory(status), "cannot write {}: not a folder",
                         path_.string());
  remove_stale_temporaries_of(path_);
  auto made = make_temporary(path_, make_folder);
  temporary_ = std::move(made.path);
  lock_ = made.fd;
}

AtomicFolder::~AtomicFolder() {
  if (!temporary_.empty()) remove_quietly(temporary_);
  if (lock_ >= 0) ::close(lock_);
}

void AtomicFolder::commit() try {
  sync_tree(temporary_);
  fs::path old;
  if (!fs::exists(path_)) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_system_error("rename to", path_);
  } else if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    old = temporary_;
  } else {
    old = replace();
  }
  temporary_.clear();
  ::close(std::exchange(lock_, -1));
  sync_path(folder_of(path_));
  if (!old.empty()) remove_quietly(old);
} catch (const fs::filesystem_error& error) {
  throw_system_error("write", path_, error.code().value());
}

fs::path AtomicFolder::replace() const {
  // What a crash leaves of it is unlocked, and recover_folder() puts it back.
  const Descriptor before(lock_folder(path_));
  int k = 0;
  while (::rename(path_.c_str(), hidden_name(path_, k, "old").c_str()) != 0) {
    if ((errno != EEXIST && errno != ENOTEMPTY) || ++k >= kMostWriters) throw_system_error("rename", path_);
  }
  auto old = hidden_name(path_, k, "old");
  if (::rename(temporary_.c_str(), path_.c_str()) == 0) return old;
  const int code = errno;
  ::rename(old.c_str(), path_.c_str());
  throw_system_error("rename to", path_, code);
}

void recover_folder(const fs::path& folder) {
  const auto path = without_trailing_slash(folder);
  for (int k = 0; k < kMostWriters && !is_there(path); ++k) {
    const auto old = hidden_name(path, k, "old");
    const Descriptor file(::open(old.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0) continue;
    wait_for_lock(file.get(), LOCK_EX);  // the process that is replacing it needs a moment only
    if (is_at(file.get(), old) && !is_there(path)) ::rename(old.c_str(), path.c_str());
  }
}

int remove_stale_temporaries_of(const fs::path& target) {
  const auto path = without_trailing_slash(target);
  recover_folder(path);
  int removed = 0;
  for (int k = 0; k < kMostWriters; ++k) {
    removed += remove_if_abandoned(hidden_name(path, k));
    if (is_there(path)) removed += remove_if_abandoned(hidden_name(path, k, "old"));
  }
  return removed;
}

int remove_stale_temporaries(const fs::path& folder) {
  static const std::regex pattern(R"(\.(.*)\.[0-9]{1,9}(-[0-9]+)?\.(tmp|old))");
  std::vector<fs::path> temporaries;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    temporaries.push_back(entry->path());
  int removed = 0;
  for (const auto& path : temporaries) {
    std::smatch match;
    const auto name = path.filename().string();
    if (!std::regex_match(name, match, pattern)) continue;
    const auto target = folder / match.str(1);
    if (match[3] == "old" && !is_there(target)) {
      if (match.length(1) < static_cast<long>(kMaxName)) recover_folder(target);
    } else {
      removed += remove_if_abandoned(path);
    }
  }
  return removed;
}

void remove_folder(const fs::path& path) {
  for (int k = 0; k < kMostWriters; ++k) {
    const auto doomed = hidden_name(path, k);
    remove_if_abandoned(doomed);
    if (::rename(path.c_str(), doomed.c_str()) == 0) return remove_quietly(doomed);
  }
}

}  // namespace piddm
