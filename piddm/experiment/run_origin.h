#pragma once
// Opening the folder of a training run, new or to be continued, without mistaking one run for another.
//
// RUN/origin.json says what the run was begun from: {"kind": teacher | student | reflow, and the digest of its "data"
// or "teacher"}. A run is only continued from the same origin and with the same settings, but for how its training goes
// on (train.steps, train.adam, checkpoints, ...); those are stored anew and told in the log.

#include <string>
#include <utility>

#include "piddm/core/error.h"
#include "piddm/experiment/experiment.h"
#include "piddm/files/run_folder.h"

namespace piddm {

json origin_of_teacher(const Tensor& fields);
json origin_of_student(const Model& teacher);
json origin_of_reflow(const Model& previous);

/// A UsageError where `out` holds a run of another kind or of other settings; nothing to say where it holds none. What
/// can be known before there are data.
void check_continuation(const std::filesystem::path& out, const std::string& kind, const Experiment& experiment);

/// A UsageError names the difference where `out` holds another run, or any run while `resume` is not set.
RunFolder open_run(const std::filesystem::path& out, const json& origin, const Experiment& experiment, bool resume);

/// work(run) in the opened run. A new run whose options turn out to be wrong leaves no run behind.
template <class F>
auto in_run(const std::filesystem::path& out, const json& origin, const Experiment& experiment, bool resume, F&& work) {
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
