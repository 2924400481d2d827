// Two processes at the same thing: one works and the other says so or waits, and the result is that of one of them.
// PIDDM_RACES: pairs for each command.

#include <thread>

#include "piddm/core/stopwatch.h"
#include "piddm/model/model.h"
#include "piddm/model/weights.h"
#include "tests/campaign/jobs.h"
#include "tests/campaign/tally.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

using namespace testing;
namespace fs = std::filesystem;

constexpr int64_t kPairs = 2;

/// Both are started within a moment; the second may be told that another process is at work.
class RaceCampaign {
 public:
  RaceCampaign(const Job& one, const Job& other, Tally& tally)
      : jobs_{one, other}, results_{Unbroken(one), Unbroken(other)}, tally_(tally) {}

  void run(int64_t pairs) {
    const Stopwatch watch;
    in_parallel(pairs, [&](int64_t trial) { pair(trial); });
    tally_.add(jobs_[0].name, "seconds", watch.seconds());
  }

 private:
  void pair(int64_t trial) {
    const TempDir folder;
    const auto uniform = uniform_of(jobs_[0].name, trial);
    const size_t first = uniform() < 0.5 ? 0 : 1;
    const Arguments commands[] = {jobs_[first].command(folder.path()), jobs_[1 - first].command(folder.path())};
    Child one(commands[0]);
    if (uniform() < 0.5) sleep_seconds(uniform() * results_[0].seconds());
    Child other(commands[1]);
    const Outcome outcomes[] = {one.wait(), other.wait()};
    tally_.add(jobs_[0].name, "pairs");
    int worked = 0;
    for (const size_t i : {0, 1}) {
      const bool refused = outcomes[i].code == static_cast<int>(ExitCode::resources) &&
                           outcomes[i].err.find("another process") != std::string::npos;
      worked += outcomes[i].code == 0;
      if (refused) tally_.add(jobs_[0].name, "refused");
      EXPECT_TRUE(refused || outcomes[i].code == 0) << "trial " << trial << " " << transcript(commands[i], outcomes[i]);
    }
    tally_.add(jobs_[0].name, "both", worked == 2);
    EXPECT_GE(worked, 1) << "trial " << trial;
    compare(folder.path(), trial);
  }

  void compare(const fs::path& folder, int64_t trial) {
    const auto one = results_[0].difference(folder), other = results_[1].difference(folder);
    if (one.none() || other.none()) return;
    const bool stale = !one.surplus.empty() && one.missing.empty() && one.different.empty();
    tally_.add(jobs_[0].name, stale ? "stale" : "mixed");
    ADD_FAILURE() << jobs_[0].name << ", trial " << trial << ": neither the result of one" << one.text()
                  << "\nnor of the other" << other.text();
  }

  Job jobs_[2];
  Unbroken results_[2];
  Tally& tally_;
};

/// Two models of one shape whose samples differ.
class Rewriter {
 public:
  explicit Rewriter(const fs::path& folder) : folder_(folder) {
    const auto model = load_model(Workshop::get().at("teacher"));
    models_.push_back(model);
    auto changed = clone_model(model);
    const torch::NoGradGuard no_grad;
    for (auto& parameter : changed.network->parameters()) parameter.mul_(1.5);
    models_.push_back(changed);
  }

  void save(size_t which) const { save_model(folder_, models_[which % models_.size()]); }

  /// Saves one after the other without a pause while `work` runs; returns how often.
  int64_t during(const std::function<void()>& work) const {
    std::atomic<bool> stop = false;
    int64_t saved = 0;
    std::thread writer([&] {
      while (!stop) save(static_cast<size_t>(saved++));
    });
    work();
    stop = true;
    writer.join();
    return saved;
  }

 private:
  fs::path folder_;
  std::vector<Model> models_;
};

TEST(Campaign, RacesMixNothing) {
  const auto pairs = amount("PIDDM_RACES", kPairs);
  Tally tally({"pairs", "both", "refused", "mixed", "stale", "seconds"});
  RaceCampaign(train_job(), train_job(), tally).run(pairs);
  RaceCampaign(demo_job(), demo_job(), tally).run(pairs > kPairs ? pairs : 1);
  RaceCampaign(make_job(0), make_job(1), tally).run(pairs);
  RaceCampaign(export_job(0), export_job(1), tally).run(pairs);
  RaceCampaign(generate_job(0), generate_job(1), tally).run(pairs);
  tally.print("two processes at the same thing");
}

TEST(Campaign, AModelCanBeReadWhileItIsReplaced) {
  const auto pairs = amount("PIDDM_RACES", kPairs);
  Tally tally({"reads", "rewrites", "false damage", "mixed", "seconds"});
  const TempDir folder;
  const Rewriter rewriter(folder / "model");
  const auto command = [&](const fs::path& out) {
    return Arguments{"generate",          folder / "model", "--n",       "1", "--out",
                     out / "samples.npz", "--quiet",        "--threads", "1"};
  };
  std::vector<Tree> results;
  for (const size_t which : {0, 1}) {
    const TempDir out;
    rewriter.save(which);
    ASSERT_EQ(piddm(command(out.path())).code, 0);
    results.push_back(tree_of(out.path()));
  }
  EXPECT_NE(results[0], results[1]);
  const Stopwatch watch;
  const auto rewrites = rewriter.during([&] {
    in_parallel(pairs, [&](int64_t trial) {
      const TempDir out;
      const auto outcome = piddm(command(out.path()));
      tally.add("generate", "reads");
      tally.add("generate", "false damage", outcome.code != 0);
      EXPECT_EQ(outcome.code, 0) << transcript(command(out.path()), outcome);
      if (outcome.code != 0) return;
      const auto tree = tree_of(out.path());
      tally.add("generate", "mixed", tree != results[0] && tree != results[1]);
      EXPECT_TRUE(tree == results[0] || tree == results[1]) << "trial " << trial;
    });
  });
  tally.add("generate", "rewrites", static_cast<double>(rewrites));
  tally.add("generate", "seconds", watch.seconds());
  tally.print("a model read while it is replaced");
}

}  // namespace
}  // namespace piddm
