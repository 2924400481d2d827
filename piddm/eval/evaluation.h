#pragma once
// Files of samples, models and files of answers to tasks, judged against a file of held-out true data: the work of
// `piddm evaluate`.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "piddm/data/dataset.h"
#include "piddm/eval/evaluate.h"

namespace piddm {

struct EvaluationOptions {
  std::vector<std::string> inputs;  ///< files of samples or answers, or folders of models to sample from
  std::string reference;            ///< a file of true data
  std::string model;                ///< takes the normaliser from it; "": from a model among the inputs, else fitted
  std::string poseidon, features;   ///< folders of a Poseidon checkpoint and of a teacher, for Frechet distances
  bool classifier = false;          ///< judge samples by a classifier too
  std::string task, observe;        ///< the inputs are answers to this task on this file of whole samples
  ObserveOptions reveal;            ///< as the answers were made
  int64_t n = 1024;                 ///< samples generated from each model
  int resamples = 200;              ///< of the bootstrap intervals
  bool ensemble = false;            ///< the inputs are several answers to the same cases
  uint64_t seed = 0;
  std::optional<uint64_t> mask_seed = {};  ///< of what the task revealed; nothing: `seed`
};

struct EvaluationResult {
  std::vector<std::pair<std::string, Scores>> inputs;  ///< in the order of the options
  std::optional<Scores> floor;                         ///< of generated samples
  std::optional<Scores> ensemble;                      ///< of answers, where asked for
  json precision = json::object();                     ///< arithmetic of the networks, of the inputs that say it
};

/// UsageErrors for options that do not fit together, before any file is read.
void check_options(const EvaluationOptions& options);

/// True data with the PDE they name; a UsageError where they name none.
std::pair<Dataset, PdePtr> load_reference(const std::string& file);

EvaluationResult evaluate(const EvaluationOptions& options, const Dataset& reference, const PdePtr& pde,
                          torch::Device device);

}  // namespace piddm
