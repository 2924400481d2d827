// Whole commands with a fault at one of their system calls, then the same command again, undisturbed. A few of each in
// every run, more with PIDDM_FAULTS=all.

#include <signal.h>

#include "tests/campaign/jobs.h"
#include "tests/campaign/tally.h"
#include "tests/faults/operation.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using namespace testing;

const std::string kPreload = "LD_PRELOAD=" PIDDM_INJECT_LIBRARY;

Surroundings injected(Fault fault, int64_t at, const fs::path& folder, const fs::path& count = {}) {
  Surroundings surroundings;
  surroundings.environment = {kPreload, fmt::format("PIDDM_INJECT={} {} {}", fault_name(fault), at, folder.string())};
  if (!count.empty()) surroundings.environment.push_back("PIDDM_INJECT_COUNT=" + count.string());
  return surroundings;
}

int64_t count_calls(const Job& job, Fault fault) {
  const TempDir folder, elsewhere;
  const auto outcome = piddm(job.command(folder.path()), injected(fault, 0, folder.path(), elsewhere / "count"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return std::stoll(read_text(elsewhere / "count"));
}

/// Empty if this is an end a program may come to.
std::string unexpected_end(const Outcome& outcome, Fault fault) {
  const bool kills = fault == Fault::torn_write || fault == Fault::kill_before || fault == Fault::kill_after;
  if (kills) return outcome.code == -SIGKILL ? "" : "it was not killed";
  if (outcome.code == 0) return outcome.err.empty() ? "" : "words in spite of success";
  if (outcome.code != 5) return "an exit code that is not expected";
  const bool line = outcome.err.starts_with("piddm: ") && outcome.err.find('\n') == outcome.err.size() - 1;
  return line ? "" : "more or less than one line";
}

struct Trial {
  Job job;
  int64_t calls, all_calls;  ///< of each fault: in every run, with PIDDM_FAULTS=all
  bool timed = false;        ///< the files hold measured times: contents are not compared
};

void disturb_program(const Trial& trial, const std::vector<Fault>& faults, Tally& tally) {
  const auto& job = trial.job;
  const Unbroken unbroken(job);
  for (const auto fault : faults) {
    const auto calls = count_calls(job, fault);
    const auto chosen = sample_calls(calls, all_faults() ? trial.all_calls : trial.calls);
    tally.add(job.name, "calls", static_cast<double>(calls));
    in_parallel(static_cast<int64_t>(chosen.size()), [&](int64_t i) {
      const auto at = chosen[static_cast<size_t>(i)];
      const TempDir folder;
      const auto command = job.command(folder.path());
      const auto outcome = piddm(command, injected(fault, at, folder.path()));
      tally.add(job.name, fault_name(fault));
      const auto wrong = unexpected_end(outcome, fault);
      const auto again = piddm(command);
      auto difference = unbroken.difference(folder.path());
      if (trial.timed) difference.different.clear();
      if (wrong.empty() && again.code == 0 && difference.none()) return;
      tally.add(job.name, "damaged");
      ADD_FAILURE() << fault_name(fault) << " at call " << at << " of " << calls << ": " << wrong << "\n"
                    << transcript(command, outcome) << "again: " << again.code << " " << again.err << difference.text();
    });
  }
}

std::vector<std::string> columns() {
  std::vector<std::string> names = {"calls"};
  for (const auto fault : kFaults) names.emplace_back(fault_name(fault));
  names.emplace_back("damaged");
  return names;
}

TEST(ProgramFaults, NoCommandIsDamaged) {
  Tally tally(columns());
  std::vector<Fault> faults = {Fault::no_space, Fault::kill_after};
  if (all_faults()) faults.assign(kFaults.begin(), kFaults.end());
  for (const auto& trial :
       {Trial{train_job(all_faults()), 1, 20}, Trial{make_job(), 1, 200}, Trial{export_job(), 1, 200},
        Trial{generate_job(), 0, 200, true}, Trial{distill_job(), 0, 20}, Trial{demo_job(), 0, 10}})
    if (trial.calls > 0 || all_faults()) disturb_program(trial, faults, tally);
  tally.print("a fault at one system call");
}

TEST(ProgramFaults, TheTimeOfDayMayJump) {
  for (const auto& job : {train_job(false), make_job()}) {
    const Unbroken unbroken(job);
    const TempDir folder;
    Surroundings surroundings;
    surroundings.environment = {kPreload, "PIDDM_INJECT_CLOCK=1"};
    const auto command = job.command(folder.path());
    const auto outcome = piddm(command, surroundings);
    EXPECT_EQ(outcome.code, 0) << transcript(command, outcome);
    EXPECT_TRUE(unbroken.difference(folder.path()).none()) << unbroken.difference(folder.path()).text();
  }
}

TEST(ProgramFaults, ARunFolderThatVanishesIsSaidInOneLine) {
  const TempDir folder;
  const auto command = train_job().command(folder.path());
  Child child(command);
  ASSERT_TRUE(child.wait_until([&] { return fs::exists(folder / "run/checkpoints/step-2"); }));
  std::error_code ignored;
  while (fs::exists(folder / "run/config.toml")) fs::remove_all(folder / "run", ignored);
  const auto outcome = child.wait();
  EXPECT_EQ(unexpected_end(outcome, Fault::io_error), "") << transcript(command, outcome);
}

}  // namespace
}  // namespace piddm
