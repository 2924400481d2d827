#pragma once
// The commands that campaigns disturb, at their smallest: each takes about a second, and the demo a few.

#include <atomic>
#include <functional>

#include "tests/campaign/tree.h"
#include "tests/cli/child.h"

namespace piddm::testing {

/// A command that writes everything below one folder and is given again, as it is, to continue.
struct Job {
  std::string name;
  std::function<Arguments(const std::filesystem::path& folder)> command;
};

Job train_job(bool checkpoints = true);    ///< of a teacher; with a checkpoint at every step, or at the end alone
Job distill_job(bool checkpoints = true);  ///< of a student, with new pairs every five steps
Job make_job(uint64_t seed = 0);           ///< data make, four shards, finished ones kept
Job export_job(uint64_t seed = 0);         ///< data export to HDF5
Job generate_job(uint64_t seed = 0);       ///< samples of a student
Job demo_job();
Job reproduce_job();  ///< one table with one method

/// What a job leaves undisturbed, and how long it takes.
class Unbroken {
 public:
  /// Runs it.
  explicit Unbroken(const Job& job, std::vector<std::string> without = {});

  const Tree& tree() const { return tree_; }
  TreeDifference difference(const std::filesystem::path& folder) const {
    return compare_trees(tree_of(folder, without_), tree_);
  }
  double seconds() const { return seconds_; }

 private:
  std::vector<std::string> without_;
  Tree tree_;
  double seconds_ = 0;
};

/// How many, from an environment variable; `otherwise` where it is not set.
int64_t amount(const char* variable, int64_t otherwise);

/// Calls work(i) for i = 0..count-1, two at a time. Work that throws is a failed test.
void in_parallel(int64_t count, const std::function<void(int64_t)>& work);

/// Random numbers of one trial: of PIDDM_SEED, the job and the trial's number.
std::function<double()> uniform_of(const std::string& job, int64_t trial);

void sleep_seconds(double seconds);

/// The command line, the exit code and what the program said: for failures.
std::string transcript(const Arguments& command, const Outcome& outcome);

}  // namespace piddm::testing
