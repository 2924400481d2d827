#pragma once
// What a check of a data set found.

#include <optional>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/data/check/cause.h"
#include "piddm/data/statistics.h"

namespace piddm {

/// A constant of the equation as the residual of the data shows it.
struct FittedConstant {
  double fitted = 0, standard_error = 0, declared = 0;
};

struct CheckResult {
  std::string name;
  double value = 0;
  std::optional<double> limit = {};  ///< none: a value for information
  std::string note = {};
  std::optional<FittedConstant> constant = {};

  /// value <= limit; without a limit the value must be finite.
  bool pass() const;
};

struct WorstSample {
  int64_t sample = 0;
  double severity = 0;  ///< its largest score over the limit of that score
  std::string check;    ///< the name of that score
};

struct CheckReport {
  int64_t n = 0, resolved = 0;                ///< samples, and how many of them were solved again
  std::vector<std::string> channels;          ///< empty where the data are not finite
  std::vector<ChannelStatistics> statistics;  ///< of each channel
  std::vector<CheckResult> checks;
  std::vector<WorstSample> worst;    ///< the worst first
  std::vector<Explanation> reasons;  ///< why the residual is beyond its floor: alternatives, the best first

  bool pass() const;

  /// {"pass": bool, "n": N, "resolved": K, "channels": [{name, min, max, mean, std}],
  ///  "checks": [{name, value, limit, pass, note}], "worst": [{sample, severity, check}],
  ///  "causes": [{explanation, what, evidence, do}]}; causes of one number belong together, others are alternatives
  json to_json() const;

  /// An aligned table for a person.
  std::string text() const;
};

}  // namespace piddm
