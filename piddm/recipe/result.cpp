#include "piddm/recipe/result.h"

namespace piddm {

json to_json(const Result& result) {
  if (!result.refused.empty()) return {{"refused", result.refused}};
  if (!result.failed.empty()) return {{"failed", result.failed}};
  return result.scores;
}

Result result_from(const json& object) {
  return {object.get<Scores>(), object.value("refused", ""), object.value("failed", "")};
}

}  // namespace piddm
