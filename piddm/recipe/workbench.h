#pragma once
// The steps every table is made of: data, teachers, students, samples, solved tasks, each stored under the hash of what
// it depends on, so that two tables share a teacher and a second run computes nothing.
//
// A table asks for entries: the samples (or solved cases) of one method with one model of one experiment. The workbench
// makes what is missing and returns their metrics (eval/evaluate.h).

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "piddm/eval/evaluate.h"
#include "piddm/experiment/experiment.h"
#include "piddm/files/tensor_map.h"
#include "piddm/recipe/recipe.h"

namespace piddm {

/// The models an experiment leads to: its teacher, the student of that, and the teacher trained with PIDM's residual.
enum class ModelRole { teacher, student, pidm };

/// One row of a table.
struct Entry {
  json labels = json::object();  ///< what the row is called: {"pde": "darcy", "method": "piddm-1"}
  Experiment experiment;
  ModelRole model = ModelRole::student;
  int64_t teacher_age = 0;        ///< take the teacher after this many steps (train.snapshots); 0: the trained one
  std::string method = {};        ///< empty: the model's own
  json options = json::object();  ///< of the method, on top of experiment.solve for piddm
  Task task = Task::generate;
  int64_t count = 0;  ///< samples or cases
  bool decode = false;
  int64_t grid = 0;    ///< generate with a student on another grid than it was trained on, and judge there; 0: its own
  int64_t starts = 1;  ///< tasks: how many times every case is solved, from other random starts: adds mse_variance
  json judged_as = json::object();  ///< parameters of the PDE that judges, where they differ from the experiment's
};

/// How entries are judged.
struct WorkbenchOptions {
  int64_t held_out = 1024;
  int64_t solved = 128;
  int64_t resamples = 200;
  std::string poseidon = {};
  std::string device = "models";

  template <class V>
  void fields(V&& f) {
    f("held_out", held_out, "true samples everything is judged against");
    f("solved", solved, "samples compared with the solution of their own coefficients");
    f("resamples", resamples, "bootstrap resamples behind the intervals; 0: none");
    f("poseidon", poseidon, "folder of a Poseidon checkpoint, for FPD; empty: the stand-in frechet_teacher alone");
    f("device", device,
      "where samples are judged: models (where those are), or cpu, if the GPU has no memory to spare");
  }
};

class Workbench {
 public:
  Workbench(std::filesystem::path root, const WorkbenchOptions& options, torch::Device device,
            Recipe::Mode mode = Recipe::Mode::run);
  ~Workbench();

  /// The teacher of this experiment lends its features to the stand-in frechet_teacher, in all entries of its PDE that
  /// are judged from now on.
  void judge_by(const Experiment& experiment);

  /// Metrics; {"refused": why} where the method cannot do the task; {"failed": why} where it broke down numerically;
  /// null while planning.
  json result(const Entry& entry);

  /// The first of the entry's samples, physical units, at most kKept; for tasks {"x", "truth", "mask"}, else {"x"}.
  /// Empty while planning.
  TensorMap fields(const Entry& entry);
  static constexpr int64_t kKept = 8;

  /// What true data score against true data with `n` samples; null while planning.
  json floor(const Experiment& experiment, int64_t n);

  /// True samples nobody was trained on, physical units; undefined while planning.
  Tensor held_out(const Experiment& experiment);

  const WorkbenchOptions& options() const { return options_; }
  const Recipe& recipe() const { return recipe_; }

 private:
  struct Trained {
    StepResult step;
    std::filesystem::path folder;  ///< of the model
  };

  StepResult data_step(const std::string& name, const Experiment& experiment, int64_t first, int64_t n);
  StepResult training_data_step(const Experiment& experiment);
  StepResult held_out_step(const Experiment& experiment);
  Trained teacher_step(const Experiment& experiment, bool pidm);
  Trained teacher_of_age(const Experiment& experiment, int64_t age);
  Trained student_step(const Entry& entry);
  Trained model_of(const Entry& entry);
  StepResult entry_step(const Entry& entry);
  void compute(const Entry& entry, const Trained& trained, const std::filesystem::path& folder);
  json generated(const Entry& entry, const Model& model, TensorMap& kept);
  json solved(const Entry& entry, const Model& model, TensorMap& kept);
  json options_of(const Entry& entry) const;
  std::string method_of(const Entry& entry) const;
  const Model& load(const Trained& trained);
  const Judge& judge_of(const Entry& entry);

  Recipe recipe_;
  WorkbenchOptions options_;
  torch::Device device_;
  json machine_;
  std::map<std::string, Model> models_;         ///< the latest few, by folder
  std::map<std::string, Experiment> features_;  ///< by PDE
  std::map<std::string, std::unique_ptr<Judge>> judges_;
  std::unique_ptr<ScotEncoder> poseidon_;
};

/// json of a finished step's file.
json read_step(const StepResult& step, const std::string& file);

}  // namespace piddm
