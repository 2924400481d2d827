#include "piddm/core/device.h"
#include "piddm/core/stopwatch.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"
#include "piddm/lab/corruptions.h"
#include "piddm/lab/figure_jensen.h"
#include "piddm/lab/figure_mog.h"
#include "piddm/lab/lab.h"
#include "piddm/lab/theory.h"
#include "piddm/lab/training_gap.h"

namespace piddm {

const Registry<LabRecipe()>& lab_registry() {
  static const Registry<LabRecipe()> registry(
      "experiment",
      {
          {"figure-jensen", "posterior-mean guidance against the exact conditional velocity (Fig. 2a-c)",
           figure_jensen},
          {"figure-mog", "DPS, ECI and PIDDM on a nearly singular mixture (appendix)", figure_mog},
          {"figure-training-gap", "the diffusion loss of Stokes with and without PIDM's residual (Fig. 2d)",
           figure_training_gap},
          {"table-corruptions", "what each metric reads on true samples that were damaged in known ways",
           table_corruptions},
          {"theory", "the low-rank Gaussian of the appendix: both theorems in numbers", theory},
      });
  return registry;
}

namespace {

/// Version 1 had neither format nor digest.
const JsonFormat kReport{.name = "piddm-figure", .version = 2};

}  // namespace

json read_lab_report(const std::filesystem::path& out) { return read_json_file(out / "report.json", kReport); }

json run_lab(const std::string& name, const json& options, const std::filesystem::path& out, torch::Device device) {
  const auto recipe = lab_registry().at(name)();
  const Stopwatch watch;
  json report = recipe.run(options, out, device);
  const auto& [experiment, settings, seconds, machine] = kLabKeys;
  report.update({{experiment, name}, {settings, options}, {seconds, watch.seconds()}, {machine, describe_machine()}});
  write_json_file(out / "report.json", kReport, report);
  write_file_atomically(out / "report.md", recipe.format(report));
  return report;
}

}  // namespace piddm
