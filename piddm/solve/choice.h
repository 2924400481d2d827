#pragma once
// Which method answers a problem best: what `solve --method auto` asks. Each method says on its card which problems it
// suits and why; the registry picks (methods/registry.h).

#include <optional>
#include <string>

#include "piddm/model/model.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// What the choice of a method depends on.
struct Problem {
  const Model& model;
  Task task;
  bool ensemble = false;  ///< draws are asked for

  // What is known, in every case:
  bool exact_solution = false;      ///< all entries of the solution channels, without noise
  bool exact_coefficients = false;  ///< all entries of the coefficient channels, without noise
  bool exact_given = false;  ///< those of the coefficients that the task inverse is given (all, if there are none)
  bool functionals = false;  ///< in some case: averages, fluxes or points between entries

  const Pde& pde() const { return *model.pde; }
};

/// `model` is kept by reference.
Problem problem_of(const Model& model, Task task, const Observation& observation, bool ensemble = false);

/// How good an answer is to be expected, the best last.
enum class Merit { guided, searched, learned, exact };

struct Suitability {
  Merit merit;
  std::string reason;  ///< for people, in one line
};

}  // namespace piddm
