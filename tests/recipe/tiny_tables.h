#pragma once
// Tables small enough for tests: 16x16, width 8, a handful of steps; and what a store of steps holds.

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "piddm/core/config.h"
#include "piddm/core/toml_text.h"
#include "piddm/tables/options.h"

namespace piddm::testing {

inline TableOptions tiny_table_options() {
  auto o = table_options(Scale::smoke);
  o.samples = 4, o.cases = 2, o.slow_samples = 2, o.slow_cases = 1, o.starts = 2;
  o.judge = {.held_out = 16, .solved = 2, .resamples = 2};
  merge_config(o.experiment, parse_toml(R"(
    data = { n = 8 }
    model = { width = 8, modes = [4, 4], layers = 2, lifting = 8, projection = 8 }
    train = { steps = 5, batch = 4, snapshots = [2] }
    solve = { task = { iterations = 2 } }
    [distill]
    pairs = { steps = 2, chunk = 4, every = 2, pool = 2, held_out = 4 }
    train = { steps = 3, batch = 4 }
  )",
                                        "tiny"));
  merge_config(o.by_method, parse_toml(R"(
    teacher = { steps = 3 }
    pidm = { steps = 3 }
    eci = { steps = 2, mixing = 2 }
    diffusionpde = { steps = 3, eta = 0.01 }
    cocogen = { steps = 3, last = 1 }
    pcfm = { steps = 2 }
    dflow = { steps = 2, task = { iterations = 2 } }
  )",
                                       "tiny"));
  return o;
}

using StepTimes = std::map<std::string, std::filesystem::file_time_type>;

/// Finished steps under `root` and when each was written.
inline StepTimes finished_steps(const std::filesystem::path& root) {
  StepTimes steps;
  for (const auto& folder : std::filesystem::directory_iterator(root / "steps"))
    if (const auto record = folder.path() / "step.json"; std::filesystem::exists(record))
      steps[folder.path().filename().string()] = std::filesystem::last_write_time(record);
  return steps;
}

/// Names, without the hash, of the steps that `after` has and `before` has not.
inline std::multiset<std::string> new_steps(const StepTimes& before, const StepTimes& after) {
  std::multiset<std::string> names;
  for (const auto& [key, time] : after)
    if (!before.contains(key)) names.insert(key.substr(0, key.rfind('-')));
  return names;
}

}  // namespace piddm::testing
