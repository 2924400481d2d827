#pragma once
// The steps every table is made of: data, teachers, students, samples, solved tasks, each stored under the hash of what
// it depends on, so that two tables share a teacher and a second run computes nothing.
//
// Demo, compare and tables ask for entries (entry.h). The workbench makes what is missing and returns their metrics
// (eval/evaluate.h). Models that are given (compare) are used as they are; all others are trained.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "piddm/eval/evaluate.h"
#include "piddm/files/tensor_map.h"
#include "piddm/recipe/entry.h"
#include "piddm/recipe/recipe.h"
#include "piddm/recipe/result.h"

namespace piddm {

/// How entries are judged.
struct WorkbenchOptions {
  int64_t held_out = 1024;
  int64_t solved = 128;
  int64_t resamples = 200;
  std::string poseidon = {};
  std::string device = "models";
  bool classifier = false;

  template <class V>
  void fields(V&& f) {
    f("held_out", held_out, count_from(4, 1e6), "true samples everything is judged against");
    f("solved", solved, count_from(1, 1e6), "samples compared with the solution of their own coefficients");
    f("resamples", resamples, count_from(0, 1e6), "bootstrap resamples behind the intervals; 0: none");
    f("poseidon", poseidon, "folder of a Poseidon checkpoint, for FPD; empty: the stand-in frechet_teacher alone");
    f("device", device,
      "where samples are judged: models (where those are), or cpu, if the GPU has no memory to spare");
    f("classifier", classifier,  // name: an option
      "train a classifier to tell the samples of each row from true ones: seconds on a GPU, minutes on a CPU");
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

  /// Use this model in its role instead of training one, for every entry from now on.
  void give(ModelRole role, const std::filesystem::path& folder);

  /// Nothing while planning, or where a look finds it unfinished.
  std::optional<Result> result(const Entry& entry);

  /// The folder of the entry's model, trained or given.
  std::filesystem::path model_folder(const Entry& entry) { return model_of(entry).folder; }

  /// The first of the entry's samples, physical units, at most kKept; for tasks {"x", "truth", "mask"}, else {"x"}.
  /// Empty while planning.
  TensorMap fields(const Entry& entry);
  static constexpr int64_t kKept = 8;

  /// What true data score against true data with `n` samples; empty while planning.
  Scores floor(const Experiment& experiment, int64_t n);

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
  std::vector<StepResult> judge_inputs(const Experiment& experiment);
  StepResult entry_step(const Entry& entry);
  void compute(const Entry& entry, const Trained& trained, const std::filesystem::path& folder);
  const Samples& samples_of(const Entry& entry, const Model& model, const Trained& trained);
  json generated(const Entry& entry, const Model& model, const Trained& trained, TensorMap& kept);
  json solved(const Entry& entry, const Model& model, TensorMap& kept);
  Trained yardstick(const Experiment& experiment);
  json options_of(const Entry& entry) const;
  const Model& load(const Trained& trained);
  const Judge& judge_of(const Entry& entry);

  Recipe recipe_;
  WorkbenchOptions options_;
  torch::Device device_;
  json machine_;
  std::map<std::string, Model> models_;         ///< the latest few, by folder
  std::map<std::string, Samples> samples_;      ///< the latest few: rows may differ in what is done with them only
  std::map<std::string, Experiment> features_;  ///< by PDE
  std::map<ModelRole, Trained> given_;
  std::map<std::string, std::unique_ptr<Judge>> judges_;
  std::unique_ptr<ScotEncoder> poseidon_;
};

}  // namespace piddm
