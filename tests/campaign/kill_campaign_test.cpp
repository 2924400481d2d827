// kill -9 at random instants between the start of a command and its end; the same command again, until it is done.
// PIDDM_KILLS: how many in all. Without it only those commands are killed that no other test kills.

#include <signal.h>

#include "piddm/core/stopwatch.h"
#include "tests/campaign/jobs.h"
#include "tests/campaign/tally.h"

namespace piddm {
namespace {

using namespace testing;

constexpr int kMostInARow = 4;

struct Share {
  Job job;
  double share;    ///< of PIDDM_KILLS
  int64_t always;  ///< kills without PIDDM_KILLS
};

class KillCampaign {
 public:
  KillCampaign(const Job& job, int64_t kills, Tally& tally)
      : job_(job), tally_(tally), unbroken_(job), wanted_(kills), seconds_(unbroken_.seconds()) {}

  void run() {
    const Stopwatch watch;
    in_parallel(10 * wanted_, [&](int64_t trial) {  // more trials than needed: one ends where the kills are spent
      if (spent_ < wanted_) chain(trial);
    });
    tally_.add(job_.name, "seconds", watch.seconds());
  }

 private:
  /// Some kills in a row in one folder, then the command is left alone.
  void chain(int64_t trial) {
    const TempDir folder;
    const auto command = job_.command(folder.path());
    const auto uniform = uniform_of(job_.name, trial);
    const auto in_a_row = 1 + static_cast<int64_t>(uniform() * kMostInARow);
    Finished before;
    for (int64_t i = 0; i < in_a_row; ++i) {
      if (!kill_once(command, uniform() * seconds_)) break;
      check_nothing_lost(folder.path(), before, trial);
    }
    const Stopwatch watch;
    const auto outcome = piddm(command);
    seconds_ = std::max(unbroken_.seconds(), watch.seconds());
    if (outcome.code != 0) {
      tally_.add(job_.name, "lost");
      ADD_FAILURE() << "trial " << trial << " was not continued: " << transcript(command, outcome);
      return;
    }
    tally_.add(job_.name, "continued");
    check_nothing_lost(folder.path(), before, trial);
    compare(folder.path(), trial);
  }

  /// False if the command ended before.
  bool kill_once(const Arguments& command, double instant) {
    Child child(command);
    sleep_seconds(instant);
    child.signal(SIGKILL);
    const auto outcome = child.wait();
    if (outcome.code == -SIGKILL) {
      ++spent_;
      tally_.add(job_.name, "kills");
      return true;
    }
    EXPECT_EQ(outcome.code, 0) << transcript(command, outcome);
    return false;
  }

  void check_nothing_lost(const std::filesystem::path& folder, Finished& before, int64_t trial) {
    auto now = finished_in(folder);
    for (const auto& name : lost_since(before, now)) {
      tally_.add(job_.name, "lost");
      ADD_FAILURE() << job_.name << ", trial " << trial << ": lost or done again: " << name;
    }
    before = std::move(now);
  }

  void compare(const std::filesystem::path& folder, int64_t trial) {
    const auto difference = unbroken_.difference(folder);
    tally_.add(job_.name, "lost", static_cast<double>(difference.missing.size()));
    tally_.add(job_.name, "different", static_cast<double>(difference.different.size()));
    tally_.add(job_.name, "stale", static_cast<double>(difference.surplus.size()));
    EXPECT_TRUE(difference.none()) << job_.name << ", trial " << trial << difference.text();
  }

  Job job_;
  Tally& tally_;
  Unbroken unbroken_;
  int64_t wanted_;
  std::atomic<int64_t> spent_ = 0;
  std::atomic<double> seconds_;  ///< that the command takes now: the machine may have become busier
};

TEST(Campaign, KillsLoseNothing) {
  const auto all = amount("PIDDM_KILLS", 0);
  Tally tally({"kills", "continued", "lost", "different", "stale", "seconds"});
  for (const auto& [job, share, always] :
       {Share{train_job(), 0.25, 0}, Share{distill_job(), 0.2, 0}, Share{make_job(), 0.25, 2},
        Share{export_job(), 0.15, 2}, Share{demo_job(), 0.08, 0}, Share{reproduce_job(), 0.07, 1}}) {
    const auto kills = all > 0 ? static_cast<int64_t>(std::lround(share * static_cast<double>(all))) : always;
    if (kills > 0) KillCampaign(job, kills, tally).run();
    if (all > 0) tally.print("so far");
  }
  tally.print("kill -9 at random instants");
}

}  // namespace
}  // namespace piddm
