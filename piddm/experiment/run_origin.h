#pragma once
// Opening the folder of a training run, new or to be continued, without mistaking one run for another.
//
// RUN/origin.json is a RunOrigin: what the run was begun from. A run is only continued from the same origin and with
// the same settings, but for those of its training that may change (TrainOptions::continued_with); these are stored
// again and named in the log.

#include <string>
#include <utility>

#include "piddm/core/error.h"
#include "piddm/experiment/experiment.h"
#include "piddm/files/run_folder.h"

namespace piddm {

/// Digests of the data or of the teacher's weights; empty where the run has none.
struct RunOrigin {
  std::string kind = "", data_sha256 = "", data = "", teacher = "";
  template <class V>
  void fields(V&& f) {
    f("kind", kind, "teacher, posterior, student, or reflow: a round of it");
    f("data_sha256", data_sha256,
      "digest of the data it learns from, every value of it; of a student: those of its adversary");
    f("data", data, "of a teacher: the digest up to version 0.2.0, of its first and last sample");
    f("teacher", teacher, "of a student and of a round: digest of the weights it was begun from");
  }
};

RunOrigin origin_of_teacher(const Tensor& fields);
RunOrigin origin_of_posterior(const Tensor& fields);
/// `truth`: the true samples of its adversary; undefined: it has none.
RunOrigin origin_of_student(const Model& teacher, const Tensor& truth);
RunOrigin origin_of_reflow(const Model& previous);

/// A UsageError where `out` holds the run of something else than a model of this kind or was begun with other settings;
/// nothing where it holds none. What can be known before there are data.
void check_continued(const std::filesystem::path& out, const Experiment& experiment);

/// A UsageError names the difference where `out` holds another run, or any run while `resume` is not set.
RunFolder open_run(const std::filesystem::path& out, const RunOrigin& origin, const Experiment& experiment,
                   bool resume);

/// work(run) in the opened run. A new run whose options turn out to be wrong leaves no run behind.
template <class F>
auto in_run(const std::filesystem::path& out, const RunOrigin& origin, const Experiment& experiment, bool resume,
            F&& work) {
  const bool existed = RunFolder::exists(out);
  auto run = open_run(out, origin, experiment, resume);
  try {
    return std::forward<F>(work)(run);
  } catch (const UsageError&) {
    if (!existed) run.forget();
    throw;
  }
}

}  // namespace piddm
