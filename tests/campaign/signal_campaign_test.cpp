// Signals that ask a program to end, at random instants: what is trained is saved, the exit code is 130, and the same
// command continues to the same result. A file that may not grow any more (SIGXFSZ) is a full disk: exit code 5.
// PIDDM_SIGNALS: how many of each for each command.

#include <signal.h>
#include <sys/resource.h>

#include "piddm/core/stopwatch.h"
#include "piddm/files/run_folder.h"
#include "tests/campaign/jobs.h"
#include "tests/campaign/tally.h"

namespace piddm {
namespace {

using namespace testing;
namespace fs = std::filesystem;

constexpr int kInterrupted = static_cast<int>(ExitCode::interrupted),
              kResources = static_cast<int>(ExitCode::resources);
constexpr double kLargestFile = 400e3;  // of the jobs, roughly

struct Signal {
  const char* name;
  int number;
};

/// Whether the process has a handler for the signal; while it is being loaded it has none.
bool is_caught(pid_t process, int number) {
  const auto file = fmt::format("/proc/{}/status", process);
  if (!fs::exists(file)) return false;
  const auto status = read_text(file);
  const auto at = status.find("SigCgt:");
  return at != std::string::npos && ((std::stoull(status.substr(at + 7), nullptr, 16) >> (number - 1)) & 1) != 0;
}

class SignalCampaign {
 public:
  SignalCampaign(const Job& job, Tally& tally) : job_(job), unbroken_(job, {"/checkpoints/"}), tally_(tally) {}

  void run(int64_t times) {
    const Stopwatch watch;
    in_parallel(times, [&](int64_t trial) {
      for (const auto& signal : {Signal{"HUP", SIGHUP}, {"INT", SIGINT}, {"TERM", SIGTERM}, {"PIPE", SIGPIPE}})
        disturb(trial, signal.name, [&](Child& child, double instant) { return send(child, signal.number, instant); });
      disturb(trial, "XFSZ", [&](Child& child, double share) { return limit(child, share); });
    });
    tally_.add(job_.name, "seconds", watch.seconds());
  }

 private:
  void disturb(int64_t trial, const std::string& what, const std::function<bool(Child&, double)>& disturbance) {
    const TempDir folder;
    const auto command = job_.command(folder.path());
    const auto uniform = uniform_of(job_.name + what, trial);
    Child child(command);
    const bool ready = disturbance(child, uniform());
    const auto outcome = child.wait();
    tally_.add(job_.name, what);
    const auto told = fmt::format("{}, trial {}: {}", what, trial, transcript(command, outcome));
    if (outcome.code == 0) {
      tally_.add(job_.name, "ended before");
    } else if (outcome.code < 0 && !ready) {
      tally_.add(job_.name, "while loading");
    } else {
      EXPECT_EQ(outcome.code, what == "XFSZ" ? kResources : kInterrupted) << told;
      const auto lines = std::count(outcome.err.begin(), outcome.err.end(), '\n');
      EXPECT_TRUE(lines == 1 || (what == "XFSZ" && lines == 0)) << told;  // standard error is a file as well
    }
    if (outcome.code == kInterrupted) check_saved(folder / "run", told);
    const auto end = piddm(command);
    EXPECT_EQ(end.code, 0) << transcript(command, end);
    const auto difference = unbroken_.difference(folder.path());
    tally_.add(job_.name, "lost", static_cast<double>(difference.missing.size()));
    tally_.add(job_.name, "different", static_cast<double>(difference.different.size()));
    tally_.add(job_.name, "stale", static_cast<double>(difference.surplus.size()));
    EXPECT_TRUE(difference.none()) << told << difference.text();
  }

  /// At an instant between the one from which on the program listens and its end.
  bool send(Child& child, int number, double instant) const {
    const Stopwatch watch;
    child.wait_until([&] { return is_caught(child.pid(), number); });
    sleep_seconds(instant * (unbroken_.seconds() - watch.seconds()));
    const bool ready = is_caught(child.pid(), number);
    child.signal(number);
    return ready;
  }

  /// No file of the process may be longer than a share of the largest. The dynamic linker writes none.
  static bool limit(const Child& child, double share) {
    const auto bytes = static_cast<rlim_t>(share * share * share * kLargestFile);
    const rlimit most{bytes, bytes};
    EXPECT_EQ(::prlimit(child.pid(), RLIMIT_FSIZE, &most, nullptr), 0);
    return true;
  }

  /// Every step that was made is in the checkpoint.
  void check_saved(const fs::path& run, const std::string& told) {
    if (!fs::exists(run / "metrics.jsonl")) return;
    int64_t step = 0;
    for (const auto& row : RunFolder::read_metrics(run)) step = std::max(step, row.at("step").get<int64_t>());
    if (step == 0) return;
    const auto finished = finished_in(run);
    const auto saved = finished.find("checkpoints/latest");
    const bool lost = saved == finished.end() || saved->second < step;
    tally_.add(job_.name, "lost", lost);
    EXPECT_FALSE(lost) << told << "step " << step << " is not saved";
  }

  Job job_;
  Unbroken unbroken_;
  Tally& tally_;
};

TEST(Campaign, SignalsSaveWhatThereIs) {
  const auto times = amount("PIDDM_SIGNALS", 1);
  Tally tally(
      {"HUP", "INT", "TERM", "PIPE", "XFSZ", "while loading", "ended before", "lost", "different", "stale", "seconds"});
  SignalCampaign(train_job(false), tally).run(times);
  if (times > 1)
    for (const auto& job : {distill_job(false), make_job(), demo_job()}) SignalCampaign(job, tally).run(times);
  tally.print("signals at random instants");
}

}  // namespace
}  // namespace piddm
