#include "tests/cli/child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace piddm::testing {

namespace {

bool has_threads(const Arguments& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--threads") != arguments.end();
}

[[noreturn]] void become_program(const Arguments& arguments, const std::string& out, const std::string& err,
                                 const Surroundings& surroundings) {
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int out_fd = ::open(out.c_str(), O_WRONLY | O_CREAT, 0666),
            err_fd = ::open(err.c_str(), O_WRONLY | O_CREAT, 0666);
  if (out_fd < 0 || err_fd < 0 || ::dup2(out_fd, STDOUT_FILENO) < 0 || ::dup2(err_fd, STDERR_FILENO) < 0) ::_exit(126);
  ::setenv("GOMP_SPINCOUNT", "3000", 0);  // two busy threads on a busy machine wait for each other for ages otherwise
  for (const auto& variable : surroundings.environment) ::putenv(const_cast<char*>(variable.c_str()));
  const int full = surroundings.full.empty() ? -1 : ::open("/dev/full", O_RDWR);
  for (const int fd : surroundings.full) ::dup2(full, fd);
  for (int fd = 3; fd < 16; ++fd) ::close(fd);
  for (const int fd : surroundings.closed) ::close(fd);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

Arguments two_threads() {
  cpu_set_t set;
  const int cores = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return {"--threads", cores >= 2 ? "2" : "1"};
}

Child::Child(const Arguments& arguments, const std::string& standard_output, const Surroundings& surroundings) {
  const char* given = std::getenv("PIDDM_PROGRAM");
  Arguments all = {given != nullptr ? given : PIDDM_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  if (!has_threads(arguments) && arguments.size() > 1)
    for (const auto& argument : two_threads()) all.push_back(argument);
  const auto out = standard_output.empty() ? (folder_ / "out").string() : standard_output,
             err = (folder_ / "err").string();
  write_text(folder_ / "out", "");
  write_text(err, "");
  pid_ = ::fork();
  if (pid_ == 0) become_program(all, out, err, surroundings);
}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, &status_, 0);
}

void Child::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

bool Child::running() {
  if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = 0;
  return pid_ > 0;
}

Outcome Child::wait() {
  if (pid_ > 0) ::waitpid(pid_, &status_, 0);
  pid_ = 0;
  return {WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_), read_text(folder_ / "out"),
          read_text(folder_ / "err")};
}

bool Child::wait_until(const std::function<bool()>& condition) {
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    if (!running() || std::chrono::steady_clock::now() - begin > std::chrono::minutes(1)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

Outcome piddm(const Arguments& arguments, const Surroundings& surroundings) {
  return Child(arguments, "", surroundings).wait();
}

Outcome succeed(Arguments arguments) {
  arguments.emplace_back("--quiet");
  const auto outcome = piddm(arguments);
  EXPECT_EQ(outcome.code, 0) << arguments[0] << " " << arguments[1] << ": " << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome;
}

void expect_failure(const Arguments& arguments, ExitCode code, const std::string& text) {
  const auto outcome = piddm(arguments);
  const auto lines = std::count(outcome.err.begin(), outcome.err.end(), '\n');
  const bool pointer = outcome.err.find("\nTry 'piddm ") != std::string::npos;
  SCOPED_TRACE(outcome.err);
  EXPECT_EQ(outcome.code, static_cast<int>(code));
  EXPECT_EQ(lines, pointer ? 2 : 1);
  EXPECT_EQ(outcome.err.rfind("piddm: ", 0), 0U);
  EXPECT_THAT(outcome.err, ::testing::HasSubstr(text));
  EXPECT_EQ(outcome.out, "");
}

}  // namespace piddm::testing
