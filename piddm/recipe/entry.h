#pragma once
// One row of a table, before it is computed: a method with one model of one experiment, generating or solving a task.

#include <optional>
#include <string>

#include "piddm/experiment/experiment.h"
#include "piddm/solve/smooth_solution.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// The models an experiment leads to: its teacher, the student of that, and the teacher trained with PIDM's residual.
enum class ModelRole { teacher, student, pidm };
inline std::vector<std::string> enum_names(ModelRole) { return {"teacher", "student", "pidm"}; }  // name: roles

/// What tells the rows of a table apart, from left to right.
struct Labels {
  std::string pde, task, method;
  std::string setting = {};  ///< empty: the table has none

  auto operator<=>(const Labels&) const = default;

  /// "darcy generate piddm-1".
  std::string text() const;
};

json to_json(const Labels& labels);
Labels labels_from(const json& object);

struct Entry {
  Labels labels;
  Experiment experiment;
  ModelRole model = ModelRole::student;
  int64_t teacher_age = 0;  ///< take the teacher after this many steps (train.snapshots); 0: the trained one
  std::string method = {};
  json options = json::object();  ///< of the method, on top of what the experiment says of its student's use
  Task task = Task::generate;
  int64_t count = 0;  ///< samples or cases
  bool decode = false;
  bool two_valued = false;                    ///< decode: coefficients cut to their two values first
  std::optional<SolutionFilter> filter = {};  ///< generation: a low-pass of the solution, before it is decoded
  /// Generate with a student on another grid than it was trained on, and judge there.
  std::optional<GridSize> grid = {};
  /// Tasks: seed of what is revealed; nothing: the experiment's, which is that of the starts too.
  std::optional<uint64_t> mask_seed = {};
  int64_t starts = 1;  ///< tasks: how many times every case is solved, from other random starts: adds mse_variance
  json judged_as = json::object();  ///< parameters of the PDE that judges, where they differ from the experiment's
};

}  // namespace piddm
