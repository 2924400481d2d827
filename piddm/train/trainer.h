#pragma once
// The only training loop. What is learned is an Objective; how, is TrainOptions; where it is kept, a RunFolder.
//
// Every random number is a function of (seed, purpose, step), so a run has no hidden state: a resumed run ends in the
// same bits as an unbroken one (same build, same threads).
//
// On a GPU a step never waits for the host (gpu_step.h): the loss is read where it is recorded, a checkpoint is
// written, or held-out data are looked at, and the progress line shows the loss read last. A loss or gradient that is
// not finite is therefore noticed up to log_every steps late; the steps in between have changed nothing, so what is
// saved is the state before the step that failed, as on the CPU.

#include <functional>
#include <string>
#include <vector>

#include "piddm/core/precision.h"
#include "piddm/files/run_folder.h"
#include "piddm/train/adam.h"
#include "piddm/train/objective.h"

namespace piddm {

/// constant: lr throughout. one_cycle: cosine from lr/25 up to lr over the first fifth of the steps, then cosine down
/// to lr/10000.
enum class ScheduleKind { one_cycle, constant };
inline std::vector<std::string> enum_names(ScheduleKind) { return {"one_cycle", "constant"}; }

struct TrainOptions {
  int64_t steps = 10000;
  int64_t batch = 128;
  AdamOptions adam = {};
  ScheduleKind schedule = ScheduleKind::one_cycle;
  int64_t log_every = 20;
  int64_t checkpoint_every = 500;
  std::vector<int64_t> snapshots = {};
  int64_t validate_every = 0;
  int64_t patience = 0;
  Precision precision = Precision::bf16;
  bool graph = true;  ///< on a GPU, record the step once and play it back; no key of a config

  template <class V>
  void fields(V&& f) {
    f("steps", steps, count_from(1), "optimiser steps");
    f("batch", batch, count_from(1), "samples per step");
    f("adam", adam, "optimiser and moving average");
    f("schedule", schedule, "learning-rate schedule: one_cycle or constant");
    f("log_every", log_every, count_from(1), "steps between two lines of metrics.jsonl");
    f("checkpoint_every", checkpoint_every, count_from(1), "steps between two checkpoints");
    f("snapshots", snapshots, count_from(1), "steps whose moving average is kept as a model, in RUN/snapshots/STEP");
    f("validate_every", validate_every, count_from(0), "steps between two looks at held-out data; 0: never");
    f("patience", patience, count_from(0), "looks without improvement until training stops; 0: never stops early");
    f("precision", precision,
      "arithmetic of the network on a GPU while training: fp32, tf32 or bf16; no effect on the CPU");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"warmup", "", "one_cycle always rises over the first fifth of the steps"},
            {"keep_checkpoints", "", "the two newest are kept"},
            {"min_improvement", "", "an improvement is always a gain of more than 0.1 %"},
            {"graph", "", "a step is recorded wherever it can be"}};
  }

  /// These options with those of `later` that a run may be continued with: how far and how fast it goes on and what it
  /// writes on the way, but neither its batches nor its schedule.
  TrainOptions continued_with(const TrainOptions& later) const;
};

/// A UsageError that begins with `path` where options make no sense.
void check_training(const TrainOptions& options, const std::string& path);

double learning_rate(const TrainOptions& options, int64_t step);

struct TrainSummary {
  int64_t steps = 0;      ///< done in all
  int64_t best_step = 0;  ///< where the returned weights come from, if there was validation
  double seconds = 0;     ///< of training, over all resumes
  double last_loss = 0;
  bool stopped_early = false;
};

/// Takes the moving average at a step of TrainOptions::snapshots. A step that a resumed run repeats is handed over
/// again, in the same bits.
using SnapshotWriter = std::function<void(const TrainSummary& so_far, const TensorMap& average)>;

/// Trains `network` and leaves the moving average (of the best step, where there is validation) in it. Continues from
/// the latest checkpoint of `run`, if it has one. Ctrl-C saves a checkpoint and throws Interrupted; a non-finite loss
/// or gradient saves the last good state and throws a NumericsError that names step and tensor.
TrainSummary train(torch::nn::Module& network, Objective& objective, const TrainOptions& options, RunFolder& run,
                   const std::string& label, const SnapshotWriter& snapshot = {});

}  // namespace piddm
