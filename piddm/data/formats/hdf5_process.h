#pragma once
// The program piddm-hdf5 as a child process. HDF5's library crashes or hangs on some damaged files, so it never runs in
// this process: whatever happens to the child (a crash, a limit, silence) is an ordinary error here.

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "piddm/core/fields.h"

namespace piddm {

struct Hdf5Limits {
  double wall_seconds = 60;          ///< for each child, plus what its data need at 10 MB/s
  int64_t cpu_seconds = 30;          ///< likewise
  int64_t memory_bytes = 1LL << 30;  ///< beyond the mapped file
};

/// Where piddm-hdf5 is: the environment's PIDDM_HDF5_CHILD, else beside this program, else in ../libexec/piddm from
/// there; a ResourceError if it is in none of them.
std::filesystem::path hdf5_child_program();

/// {"hdf5": version, "filtered": whether its system calls are filtered, "program": path}, or {"error": why not}.
json hdf5_support();

class Hdf5Process {
 public:
  /// Starts `piddm-hdf5 command request`. `input` becomes its standard input, or with -1 send() does; `output` its
  /// descriptor 3. `subject` begins every error message; `data_bytes` is about what will pass through.
  Hdf5Process(const std::string& command, json request, int input, int output, std::string subject,
              const Hdf5Limits& limits, int64_t data_bytes);
  ~Hdf5Process();  ///< kills and reaps it
  Hdf5Process(const Hdf5Process&) = delete;
  Hdf5Process& operator=(const Hdf5Process&) = delete;

  void send(const void* data, size_t bytes);

  /// The child's line of JSON. If it is an error, a DataError with its text, or a ResourceError where the file is not
  /// to blame: a full disk, no jail. With many keys in one object this is quick only where those are sorted.
  nlohmann::json receive_answer();
  void receive(void* data, size_t bytes);

  /// Waits for a clean end without further output.
  void finish();

 private:
  size_t receive_some(void* data, size_t bytes);  ///< 0 at the end
  void wait_for(short events);
  [[noreturn]] void fail();  ///< with what happened to the child
  [[noreturn]] void fail(const std::string& why) const;

  std::string subject_;
  double wall_seconds_;
  std::chrono::steady_clock::time_point deadline_;
  pid_t pid_ = -1;
  int socket_ = -1;
  std::string buffered_;
};

}  // namespace piddm
