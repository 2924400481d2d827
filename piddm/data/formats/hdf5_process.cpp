#include "piddm/data/formats/hdf5_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "piddm/core/json_text.h"

extern char** environ;

namespace piddm {

namespace {

constexpr size_t kMaxAnswer = size_t{4} << 20;
constexpr double kSlowestBytesPerSecond = 1e7;
constexpr const char* kProgram = "piddm-hdf5";
constexpr int kOutputFile = 3;

/// The file descriptors of the child: standard input and output, nothing on standard error, its output file.
class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void duplicate(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void discard(int to) { ::posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", O_WRONLY, 0); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// A copy of `fd` that is none of the child's numbers, so that duplicating onto those cannot overwrite it.
int out_of_the_way(int fd) { return fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 10); }

pid_t start(const std::string& command, const std::string& request, int input, int output, int answers) {
  const auto program = hdf5_child_program().string();
  const int in = out_of_the_way(input), out = out_of_the_way(output), back = out_of_the_way(answers);
  FileActions actions;
  actions.duplicate(in, STDIN_FILENO);
  actions.duplicate(back, STDOUT_FILENO);
  actions.discard(STDERR_FILENO);
  if (out >= 0) actions.duplicate(out, kOutputFile);
  std::string name = kProgram, verb = command, text = request;
  char* arguments[] = {name.data(), verb.data(), text.data(), nullptr};
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, program.c_str(), actions.get(), nullptr, arguments, environ);
  for (const int fd : {in, out, back})
    if (fd >= 0) ::close(fd);
  require<ResourceError>(code == 0, "cannot start {}: {}", program, std::strerror(code));
  return pid;
}

std::string printable(std::string text) {
  text.resize(std::min<size_t>(text.size(), 300));
  for (auto& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return text;
}

bool executable(const std::filesystem::path& path) { return ::access(path.c_str(), X_OK) == 0; }

}  // namespace

std::filesystem::path hdf5_child_program() {
  if (const char* given = std::getenv("PIDDM_HDF5_CHILD"); given != nullptr && *given != '\0') {
    require<ResourceError>(executable(given), "PIDDM_HDF5_CHILD={}: no such program", given);
    return given;
  }
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const auto& place : {folder / kProgram, folder.parent_path() / "libexec" / "piddm" / kProgram})
    if (executable(place)) return place;
  throw ResourceError(
      "HDF5 files need the program {0}, which is not beside this one ({1}) and not in ../libexec/piddm; build with "
      "libhdf5, or set PIDDM_HDF5_CHILD",
      kProgram, folder.string());
}

json hdf5_support() try {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  Hdf5Process child("version", json::object(), nothing, -1, kProgram, {.wall_seconds = 5}, 0);
  ::close(nothing);
  json support = child.receive_answer();
  child.finish();
  support["program"] = hdf5_child_program().string();
  return support;
} catch (const Error& error) {
  return {{"error", error.what()}};
}

Hdf5Process::Hdf5Process(const std::string& command, json request, int input, int output, std::string subject,
                         const Hdf5Limits& limits, int64_t data_bytes)
    : subject_(std::move(subject)) {
  const double for_data = static_cast<double>(data_bytes) / kSlowestBytesPerSecond;
  wall_seconds_ = limits.wall_seconds + for_data;
  deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<int64_t>(1e3 * wall_seconds_));
  request["memory_bytes"] = limits.memory_bytes;
  request["cpu_seconds"] = limits.cpu_seconds + static_cast<int64_t>(for_data);
  int ends[2];
  require<ResourceError>(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "no socket pair: {}",
                         std::strerror(errno));
  socket_ = ends[0];
  try {
    pid_ = start(command, request.dump(), input < 0 ? ends[1] : input, output, ends[1]);
  } catch (...) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
}

Hdf5Process::~Hdf5Process() {
  if (socket_ >= 0) ::close(socket_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Hdf5Process::fail(const std::string& why) const { throw DataError("[hdf5] {}: {}", subject_, why); }

void Hdf5Process::fail() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) fail("HDF5 needed more processor time than allowed");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) fail("HDF5 was killed at one of its limits");
  require<ResourceError>(!WIFSIGNALED(status) || WTERMSIG(status) != SIGXFSZ,
                         "[hdf5] {}: the file grows larger than this shell allows (see ulimit -f)", subject_);
  if (WIFSIGNALED(status))
    fail(fmt::format("HDF5 crashed on this file ({}); it is damaged", ::strsignal(WTERMSIG(status))));
  fail(fmt::format("HDF5 ended without an answer (exit code {0}); if '{1} version' prints one, the file is damaged",
                   WEXITSTATUS(status), hdf5_child_program().string()));
}

void Hdf5Process::wait_for(short events) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
    if (left.count() <= 0) fail(fmt::format("HDF5 did not finish within {:.3g} s", wall_seconds_));
    pollfd request{socket_, events, 0};
    const int ready = ::poll(&request, 1, static_cast<int>(std::min<int64_t>(left.count() + 1, 1 << 30)));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw ResourceError("cannot wait for {}: {}", kProgram, std::strerror(errno));
  }
}

void Hdf5Process::send(const void* data, size_t bytes) {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    wait_for(POLLOUT);
    const ssize_t sent = ::send(socket_, next, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) {
      receive_answer();  // throws the child's own reason
      fail();
    }
    next += sent;
    bytes -= static_cast<size_t>(sent);
  }
}

size_t Hdf5Process::receive_some(void* data, size_t bytes) {
  for (;;) {
    wait_for(POLLIN);
    const ssize_t got = ::recv(socket_, data, bytes, MSG_DONTWAIT);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno == ECONNRESET) return 0;
    if (errno != EINTR && errno != EAGAIN) throw ResourceError("cannot hear {}: {}", kProgram, std::strerror(errno));
  }
}

nlohmann::json Hdf5Process::receive_answer() {
  std::string line;
  size_t end = std::string::npos;
  char block[16 << 10];
  while (end == std::string::npos) {
    const size_t got = receive_some(block, sizeof(block));
    if (got == 0) fail();
    const size_t before = line.size();
    line.append(block, got);
    end = line.find('\n', before);
    if (end == std::string::npos && line.size() > kMaxAnswer) fail("too long an answer");
  }
  buffered_ = line.substr(end + 1);
  line.resize(end);
  auto answer = parse_json<nlohmann::json>(line, "[hdf5] " + subject_, {.depth = 8, .keys = 1 << 17});
  if (!answer.is_object()) fail("unexpected answer");
  if (const auto error = answer.find("error"); error != answer.end()) {
    const auto text = printable(error->is_string() ? error->get<std::string>() : "unknown error");
    require<ResourceError>(answer.value("resources", nlohmann::json()) != true, "[hdf5] {}: {}", subject_, text);
    fail(text);
  }
  return answer;
}

void Hdf5Process::receive(void* data, size_t bytes) {
  auto* next = static_cast<char*>(data);
  const size_t waiting = std::min(bytes, buffered_.size());
  std::memcpy(next, buffered_.data(), waiting);
  buffered_.erase(0, waiting);
  for (size_t done = waiting; done < bytes;) {
    const size_t got = receive_some(next + done, bytes - done);
    if (got == 0) fail();
    done += got;
  }
}

void Hdf5Process::finish() {
  char more = 0;
  const bool silent = buffered_.empty() && receive_some(&more, 1) == 0;
  int status = 0;
  while (::waitpid(pid_, &status, silent ? 0 : WNOHANG) < 0 && errno == EINTR) {
  }
  if (silent) pid_ = -1;
  if (!silent || !WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("the answer does not end where it should");
}

}  // namespace piddm
