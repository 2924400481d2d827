#include "tests/faults/operation.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/testing.h"

namespace piddm::testing {

namespace fs = std::filesystem;

namespace {

using Files = std::map<std::string, std::string>;

/// What a process of the test tells its parent.
struct Report {
  int64_t calls = 0;
  char error[1000] = "";
};

bool hidden(const std::string& file) { return file[0] == '.' || file.find("/.") != std::string::npos; }

class Disturbance {
 public:
  explicit Disturbance(const Operation& operation) : operation_(operation) {
    void* shared = ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw ResourceError("no shared memory");
    report_ = new (shared) Report;
    undisturbed(operation_.prepare, before_.path());
    old_ = files_of(before_.path());
    const TempDir folder;
    copy_before(folder);
    undisturbed(operation_.run, folder.path());
    new_ = files_of(folder.path());
  }
  ~Disturbance() { ::munmap(report_, sizeof(Report)); }
  Disturbance(const Disturbance&) = delete;
  Disturbance& operator=(const Disturbance&) = delete;

  void run() {
    std::string counts;
    for (const auto fault : kFaults) {
      const auto calls = count(fault);
      const auto chosen = sample_calls(calls, all_faults() ? calls : operation_.most);
      for (const auto at : chosen) one({fault, at, operation_.can_exchange});
      counts += fmt::format("{} {} of {}", counts.empty() ? "" : ",", chosen.size(), calls) + " " + fault_name(fault);
    }
    fmt::print("{}: {} injections, {} damaged ({} )\n", operation_.name, injections_, damaged_, counts);
  }

 private:
  Files files_of(const fs::path& folder) const {
    Files files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const auto name = entry.path().lexically_relative(folder).string();
      const bool compared = entry.is_regular_file() && !(operation_.free && operation_.free(name));
      files[name] = compared ? read_text(entry.path()) : "";
    }
    return files;
  }

  void copy_before(const TempDir& folder) const {
    fs::copy(before_.path(), folder.path(), fs::copy_options::recursive);
  }

  /// In this process; only fsync does nothing, which would take most of the time.
  static void undisturbed(const Operation::Step& step, const fs::path& folder) {
    inject(folder.c_str(), {});
    step(folder);
    inject("", {});
  }

  /// The operation in a process of its own; its status as waitpid gives it.
  int in_child(const fs::path& folder, const Injection& injection) {
    *report_ = Report();
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 0;
      inject(folder.c_str(), injection);
      try {
        operation_.run(folder);
      } catch (const Error& error) {
        code = static_cast<int>(error.code());
        std::strncpy(report_->error, error.what(), sizeof(report_->error) - 1);
      } catch (const std::exception& error) {
        code = 99;
        std::strncpy(report_->error, error.what(), sizeof(report_->error) - 1);
      }
      report_->calls = injectable_calls();
      ::_exit(code);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  int64_t count(Fault fault) {
    const TempDir folder;
    copy_before(folder);
    EXPECT_EQ(in_child(folder.path(), {fault, 0, operation_.can_exchange}), 0) << report_->error;
    return report_->calls;
  }

  void one(const Injection& injection) {
    ++injections_;
    const TempDir folder;
    copy_before(folder);
    const int status = in_child(folder.path(), injection);
    const auto wrong = [&](const std::string& what) {
      ++damaged_;
      ADD_FAILURE() << operation_.name << ", " << fault_name(injection.fault) << " at call " << injection.at << ": "
                    << what << (report_->error[0] == '\0' ? "" : "; it said: ") << report_->error;
    };
    if (const auto unexpected = unexpected_end(injection.fault, status); !unexpected.empty()) return wrong(unexpected);
    for (const auto& [name, text] : files_of(folder.path())) {
      const auto old = old_.find(name), made = new_.find(name);
      const bool known = (old != old_.end() && old->second == text) || (made != new_.end() && made->second == text);
      const bool compared = !hidden(name) && !(operation_.free && operation_.free(name));
      if (compared && !known) return wrong("neither the old nor the new file: " + name);
    }
    try {
      if (operation_.check) undisturbed(operation_.check, folder.path());
      undisturbed(operation_.run, folder.path());
    } catch (const std::exception& error) {
      return wrong(fmt::format("afterwards: {}", error.what()));
    }
    if (const auto difference = differs(files_of(folder.path())); !difference.empty())
      wrong("after another run: " + difference);
  }

  static std::string unexpected_end(Fault fault, int status) {
    const bool kills = fault == Fault::torn_write || fault == Fault::kill_before || fault == Fault::kill_after;
    if (kills) return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? "" : "it was not killed";
    if (!WIFEXITED(status)) return fmt::format("it ended by signal {}", WTERMSIG(status));
    const int code = WEXITSTATUS(status);
    if (code == 0 || (code == static_cast<int>(ExitCode::resources) && fault != Fault::short_write)) return "";
    return fmt::format("it ended with code {}", code);
  }

  std::string differs(const Files& found) const {
    for (const auto& [name, text] : found) {
      const auto expected = new_.find(name);
      if (expected == new_.end()) return "there is also " + name;
      if (expected->second != text) return name + " is another";
    }
    for (const auto& [name, text] : new_)
      if (!found.contains(name)) return name + " is missing";
    return "";
  }

  const Operation& operation_;
  TempDir before_;
  Files old_, new_;
  Report* report_ = nullptr;
  int64_t injections_ = 0, damaged_ = 0;
};

}  // namespace

void disturb(const Operation& operation) { Disturbance(operation).run(); }

void work_in_memory() {
  if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
}

bool all_faults() {
  const char* value = std::getenv("PIDDM_FAULTS");
  return value != nullptr && std::string(value) == "all";
}

std::vector<int64_t> sample_calls(int64_t count, int64_t most) {
  std::vector<int64_t> chosen;
  const int64_t n = std::min(count, most);
  for (int64_t i = 0; i < n; ++i) chosen.push_back(1 + (2 * i + 1) * count / (2 * n));
  return chosen;
}

}  // namespace piddm::testing
