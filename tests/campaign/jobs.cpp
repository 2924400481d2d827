#include "tests/campaign/jobs.h"

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "piddm/core/stopwatch.h"
#include "tests/cli/workshop.h"

namespace piddm::testing {

namespace fs = std::filesystem;

namespace {

constexpr int kWorkers = 2;

void set(Arguments& command, const std::vector<std::string>& settings) {
  for (const auto& setting : settings) command.insert(command.end(), {"--set", setting});
}

Arguments one_thread(Arguments command) {
  command.insert(command.end(), {"--quiet", "--threads", "1"});
  return command;
}

/// Data that are long enough to be killed in the middle of being written.
std::string large_data(uint64_t seed) {
  static const TempDir folder;
  const auto file = folder / fmt::format("{}.npz", seed);
  if (!fs::exists(file))
    succeed({"data", "make", "darcy", "--n", "2000", "--grid", "16", "--seed", std::to_string(seed), "--out", file});
  return file;
}

}  // namespace

Job train_job(bool checkpoints) {
  return {"train", [checkpoints](const fs::path& folder) {
            const auto& shop = Workshop::get();
            Arguments command = {"train", shop.config(),  "--data",  shop.at("data.npz"),
                                 "--out", folder / "run", "--resume"};
            set(command, {"train.steps=60", "train.log_every=1", "train.snapshots=[20,40]",
                          fmt::format("train.checkpoint_every={}", checkpoints ? 1 : 1000000)});
            return one_thread(command);
          }};
}

Job distill_job(bool checkpoints) {
  return {"distill", [checkpoints](const fs::path& folder) {
            Arguments command = {"distill", "--teacher",    Workshop::get().at("teacher"),
                                 "--out",   folder / "run", "--resume"};
            set(command, {"distill.train.steps=40", "distill.train.log_every=1",
                          fmt::format("distill.train.checkpoint_every={}", checkpoints ? 1 : 1000000)});
            return one_thread(command);
          }};
}

Job make_job(uint64_t seed) {
  return {"data make", [seed](const fs::path& folder) {
            return one_thread({"data", "make", "darcy", "--n", "400", "--grid", "16", "--shards", "4", "--resume",
                               "--seed", std::to_string(seed), "--out", folder / "set.npz"});
          }};
}

Job export_job(uint64_t seed) {
  return {"data export", [seed](const fs::path& folder) {
            return one_thread({"data", "export", large_data(seed), "--format", "hdf5", "--out", folder / "set.h5"});
          }};
}

Job generate_job(uint64_t seed) {
  return {"generate", [seed](const fs::path& folder) {
            return one_thread({"generate", Workshop::get().at("student"), "--n", "500", "--seed", std::to_string(seed),
                               "--out", folder / "samples.npz"});
          }};
}

Job demo_job() {
  return {"demo", [](const fs::path& folder) {
            Arguments command = {"demo", "--out", folder / "demo"};
            set(command, {"held_out=8", "samples=8", "cases=2"});
            for (const char* setting :
                 {"pde.grid=16", "data.n=16", "model.width=4", "model.modes=[4,4]", "model.layers=2", "model.lifting=8",
                  "model.projection=8", "train.steps=6", "train.batch=4", "train.checkpoint_every=1",
                  "distill.pairs.steps=4", "distill.pairs.chunk=8", "distill.pairs.every=5", "distill.pairs.held_out=4",
                  "distill.train.steps=4", "distill.train.batch=4", "distill.train.checkpoint_every=1",
                  "distill.train.validate_every=4", "solve.task.iterations=3"})
              set(command, {fmt::format("experiment.{}", setting)});
            return one_thread(command);
          }};
}

Job reproduce_job() {
  return {"reproduce", [](const fs::path& folder) {
            Arguments command = {"reproduce", "table-diversity", "--scale", "smoke", "--out", folder / "tables"};
            set(command, {"judge.resamples=5", R"(methods=["piddm-1"])", "experiment.train.checkpoint_every=20",
                          "experiment.distill.train.checkpoint_every=20"});
            return one_thread(command);
          }};
}

Unbroken::Unbroken(const Job& job, std::vector<std::string> without) : without_(std::move(without)) {
  const TempDir folder;
  const auto command = job.command(folder.path());
  const Stopwatch watch;
  const auto outcome = piddm(command);
  seconds_ = watch.seconds();
  EXPECT_EQ(outcome.code, 0) << transcript(command, outcome);
  tree_ = tree_of(folder.path(), without_);
  EXPECT_FALSE(tree_.empty());
}

int64_t amount(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoll(text);
}

void in_parallel(int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  const auto loop = [&] {
    for (int64_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "trial " << i << ": " << error.what();
      }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i) workers.emplace_back(loop);
  for (auto& worker : workers) worker.join();
}

std::function<double()> uniform_of(const std::string& job, int64_t trial) {
  static const int64_t seed = amount("PIDDM_SEED", 1);
  const auto text = fmt::format("{} {} {}", seed, job, trial);
  std::seed_seq words(text.begin(), text.end());
  return [random = std::mt19937(words)]() mutable { return std::uniform_real_distribution<>()(random); };
}

void sleep_seconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

std::string transcript(const Arguments& command, const Outcome& outcome) {
  std::string text = "piddm";
  for (const auto& argument : command) text += fmt::format(" '{}'", argument);
  return fmt::format("{}\nexit code {}\n{}", text, outcome.code, outcome.err);
}

}  // namespace piddm::testing
