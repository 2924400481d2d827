#pragma once
// One experiment: everything `piddm train` and `piddm distill` need, as one config. Presets are files of this form.

#include <filesystem>
#include <functional>
#include <string>

#include "piddm/data/dataset.h"
#include "piddm/distill/objectives.h"
#include "piddm/model/model.h"
#include "piddm/plot/figure.h"
#include "piddm/posterior/posterior_objective.h"
#include "piddm/solve/methods/piddm.h"
#include "piddm/train/pidm.h"
#include "piddm/train/trainer.h"

namespace piddm {

struct DataOptions {
  std::string path;
  int64_t n = 10000;
  uint64_t seed = 0;
  template <class V>
  void fields(V&& f) {
    f("path", path, "training data; empty: generated from the PDE's law");
    f("n", n, count_from(2), "samples to generate");
    f("seed", seed, kSeeds, "seed of the generated data");
  }
};

struct Experiment {
  ModelKind kind = ModelKind::teacher;
  uint64_t seed = 0;
  PdeOptions pde;
  DataOptions data;
  json model = {{"type", "fno"}};
  std::string process = linear_process()->name();
  Spacing times = Spacing::uniform;
  TrainOptions train;
  PidmOptions pidm;
  PosteriorOptions posterior;
  DistillOptions distill;
  PiddmOptions solve;

  template <class V>
  void fields(V&& f) {
    f("kind", kind, "what `piddm train` makes: teacher, or posterior");
    f("seed", seed, kSeeds, "seed of everything but the data");
    f("pde", pde, "the PDE and its grid");
    f("data", data, "training data");
    f("model", model, "network: type = \"fno\", and its options");
    f("process", process, "diffusion process");
    f("times", times,
      "times of the teacher's training: uniform, or quadratic: more of them at the noisy end (train/flow_matching.h)");
    f("train", train, "training of the teacher or the posterior");
    f("pidm", pidm, "residual of the clean estimate in the teacher's training");  // name: a section's
    f("posterior", posterior, "the amortised student, for kind = \"posterior\"");
    f("distill", distill, "distillation of the student");
    f("solve", solve, "defaults for generation and tasks with the student");
  }
};

/// Number of the first held-out sample: far from the training samples in the same stream.
constexpr int64_t kHeldOutFirst = 1'000'000;

/// A config, read strictly: a UsageError names what is unknown or wrong, before any work starts. With
/// FormerKeys::accept one that was stored with a run or a model, perhaps by an earlier version.
Experiment parse_experiment(const json& config, FormerKeys policy = FormerKeys::refuse);

/// The experiment with settings "key=value" on top.
Experiment with_settings(const Experiment& experiment, const std::vector<std::string>& settings);

/// A preset, a config's file or the file of a PDE with settings on top (chosen_experiment.h).
Experiment load_experiment(const std::string& name, const std::vector<std::string>& settings);

/// The data the experiment asks for: read, or generated.
Dataset training_data(const Experiment& experiment);

/// A ResourceError, before any work, where a batch, the data or the pairs of an experiment cannot fit into memory; it
/// names the option to lower.
void check_training_memory(const Experiment& experiment, torch::Device device);
void check_distillation_memory(const Experiment& experiment, const Model& teacher);

/// Trains a teacher in the run folder `out` (continued if it holds a run and `resume` is set) and leaves it in
/// out/model, and what it was at the steps train.snapshots in out/snapshots/STEP, each a model of its own.
Model train_teacher(const Experiment& experiment, const Dataset& data, const std::filesystem::path& out,
                    torch::Device device, bool resume);

/// Distils a student of `teacher` likewise. `pair_cache` may be shared by several students of one teacher. Where the
/// objective begins with rounds of reflow, these are runs of their own in out/reflow-1, ..., each with a teacher in it.
/// `data` gives the true samples that an adversary compares with; without one it is not called.
Model distill_student(const Experiment& experiment, const Model& teacher, const std::filesystem::path& out,
                      const std::filesystem::path& pair_cache, bool resume, const std::string& label = "distil student",
                      const std::function<Dataset()>& data = {});

/// The curves of RUN/metrics.jsonl: losses, and the PDE error on axes of its own.
Figure draw_training(const std::filesystem::path& run);

}  // namespace piddm
