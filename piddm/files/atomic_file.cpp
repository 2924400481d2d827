#include "piddm/files/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <regex>
#include <utility>

#include "piddm/core/error.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void throw_system_error(const char* what, const fs::path& path, int code = errno) {
  throw ResourceError("cannot {} {}: {}", what, path.string(), std::strerror(code));
}

fs::path without_trailing_slash(fs::path path) { return path.has_filename() ? path : path.parent_path(); }

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

fs::path temporary_name(const fs::path& path) {
  static std::atomic<uint64_t> counter{0};
  const auto name = path.filename().string().substr(0, 200);
  return folder_of(path) / fmt::format(".{}.{}-{}.tmp", name, ::getpid(), counter++);
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

void remove_quietly(const fs::path& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  std::error_code ignored;
  const auto status = fs::status(path_, ignored);
  require<ResourceError>(!fs::exists(status) || fs::is_regular_file(status), "cannot write {}: not a regular file",
                         path_.string());
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_system_error("create", path_);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
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
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) throw_system_error("close", path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_system_error("rename to", path_);
  temporary_.clear();
  sync_path(folder_of(path_));
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

AtomicFolder::AtomicFolder(fs::path path)
    : path_(without_trailing_slash(std::move(path))), temporary_(temporary_name(path_)) {
  std::error_code ignored;
  const auto status = fs::status(path_, ignored);
  require<ResourceError>(!fs::exists(status) || fs::is_directory(status), "cannot write {}: not a folder",
                         path_.string());
  if (::mkdir(temporary_.c_str(), 0777) != 0) throw_system_error("create", path_);
}

AtomicFolder::~AtomicFolder() {
  if (!temporary_.empty()) remove_quietly(temporary_);
}

void AtomicFolder::commit() try {
  sync_tree(temporary_);
  fs::path old;
  if (fs::exists(path_)) {
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
      old = std::exchange(temporary_, {});
    } else {
      old = temporary_name(path_);
      if (::rename(path_.c_str(), old.c_str()) != 0) throw_system_error("rename", path_);
    }
  }
  if (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0) throw_system_error("rename to", path_);
  temporary_.clear();
  sync_path(folder_of(path_));
  if (!old.empty()) remove_quietly(old);
} catch (const fs::filesystem_error& error) {
  throw_system_error("write", path_, error.code().value());
}

int remove_stale_temporaries(const fs::path& folder) {
  static const std::regex pattern(R"(\..*\.([0-9]{1,9})-[0-9]+\.tmp)");
  std::error_code ignored;
  int removed = 0;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    std::smatch match;
    const auto name = entry.path().filename().string();
    if (!std::regex_match(name, match, pattern)) continue;
    if (::kill(std::stoi(match[1]), 0) == 0 || errno != ESRCH) continue;
    remove_quietly(entry.path());
    ++removed;
  }
  return removed;
}

}  // namespace piddm
