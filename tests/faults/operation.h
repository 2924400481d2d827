#pragma once
// One operation on files, disturbed at every system call it makes.

#include <filesystem>
#include <functional>
#include <string>

#include "tests/faults/inject.h"

namespace piddm::testing {

/// What is done to a folder. Done again after a fault it must end as if nothing had happened.
struct Operation {
  using Step = std::function<void(const std::filesystem::path& folder)>;
  std::string name;
  Step prepare;                                            ///< what is there before
  Step run;                                                ///< what is disturbed
  Step check = {};                                         ///< after the fault: throws where something is lost
  std::function<bool(const std::string& file)> free = {};  ///< files that are not compared
  bool can_exchange = true;                                ///< see Injection
  int64_t most = 12;  ///< calls that are tried of each fault unless PIDDM_FAULTS=all
};

/// Every fault at every call, each in a process of its own that begins with what `prepare` left. Expected are: success,
/// or a ResourceError, or the kill asked for; under final names nothing but what was there before or is there at the
/// end; `check`; and after another, undisturbed run exactly the files of an undisturbed one. Prints the counts.
void disturb(const Operation& operation);

/// From now on temporary folders of this process are in memory, where there is room for that: thousands of them on a
/// disk take minutes.
void work_in_memory();

/// PIDDM_FAULTS=all is set.
bool all_faults();

/// `most` of the numbers 1..count, evenly spread.
std::vector<int64_t> sample_calls(int64_t count, int64_t most);

}  // namespace piddm::testing
