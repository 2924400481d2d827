#pragma once
// The program as a child process: start it, wait for it, kill it.

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/testing.h"

namespace piddm::testing {

using Arguments = std::vector<std::string>;

struct Outcome {
  int code = -1;  ///< exit code; minus the signal's number if one ended it
  std::string out, err;
};

/// "--threads 2", or 1 on a machine with a single core.
Arguments two_threads();

/// What a program may find around it.
struct Surroundings {
  std::vector<int> closed = {};               ///< of the descriptors 0, 1, 2
  std::vector<int> full = {};                 ///< those on /dev/full: every write fails
  std::vector<std::string> environment = {};  ///< "NAME=value"
};

/// A running `piddm ARGUMENTS --threads 2`; killed and reaped with the object. PIDDM_PROGRAM in the environment names
/// another program than the one just built.
class Child {
 public:
  explicit Child(const Arguments& arguments, const std::string& standard_output = "",
                 const Surroundings& surroundings = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  bool running();
  Outcome wait();

  /// Until `condition` holds; false if the program ended or a minute went by first.
  bool wait_until(const std::function<bool()>& condition);

 private:
  TempDir folder_;
  pid_t pid_ = -1;
  int status_ = 0;
};

/// Runs the program to its end.
Outcome piddm(const Arguments& arguments, const Surroundings& surroundings = {});

/// Runs it with --quiet and expects success; a failure prints what the program said.
Outcome succeed(Arguments arguments);

/// One line on standard error, "piddm: ..." with `text` in it, nothing on standard output, and this exit code. A usage
/// error of the command line itself may point to --help in a second line.
void expect_failure(const Arguments& arguments, ExitCode code, const std::string& text);

}  // namespace piddm::testing
