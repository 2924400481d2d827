#include "piddm/recipe/result.h"

namespace piddm {

json to_json(const Result& result) {
  if (!result.refused.empty()) return {{"refused", result.refused}};
  if (!result.failed.empty()) return {{"failed", result.failed}};
  json out = result.scores;
  if (!result.diverged.empty()) out["diverged"] = result.diverged;
  if (!result.precision.empty()) out["precision"] = result.precision;
  return out;
}

Result result_from(const json& object) {
  Result result{object.get<Scores>(), object.value("refused", ""), object.value("failed", "")};
  result.diverged = object.value("diverged", divergence(result.scores));
  result.precision = object.value("precision", "");
  return result;
}

}  // namespace piddm
