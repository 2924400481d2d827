#pragma once
// The end of the demo: noisy sensors of a sample that nobody was trained on, an ensemble of answers to them by the best
// method there is for the student, and a picture of its spread.
//
//   OUT/sensors.csv, ensemble.npz, ensemble.png    what `piddm solve STUDENT --sensors ... --ensemble 64` takes and
//                                                  makes; the same members

#include <filesystem>

#include "piddm/recipe/workbench.h"

namespace piddm {

struct DemoEnsemble {
  std::string method, reason;
  std::string arguments;  ///< of `piddm solve` beside model, sensors and files
  std::string channels;   ///< that were measured: "u"
  int64_t sensors = 0, members = 0;
  json scores = json::object();  ///< errors of the mean, spread, chi^2 over the noisy values, cost
};

/// `entry` names the student. What is there already is not computed again.
DemoEnsemble make_demo_ensemble(Workbench& bench, const Entry& entry, const std::filesystem::path& out,
                                torch::Device device);

json to_json(const DemoEnsemble& ensemble);

/// One paragraph.
std::string describe_ensemble(const DemoEnsemble& ensemble);

/// The command that makes the ensemble again: "piddm solve OUT/student --sensors OUT/sensors.csv ...".
std::string ensemble_command(const DemoEnsemble& ensemble, const std::filesystem::path& out);

}  // namespace piddm
