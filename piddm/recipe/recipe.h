#pragma once
// A recipe: steps whose results are stored under the hash of their inputs. What `demo` and `reproduce` are written in.
//
// A step's key is the hash of its name, the program's version, its settings and the keys of the steps it builds on, so a changed setting reruns
// only what depends on it, two recipes in one folder share what they have in common, and a second run computes nothing. A step works in a folder
// that survives a kill and gets its final name when it is done: training continues, everything else starts over.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm {

/// A finished step: what it is called in the store, and where its files are.
struct StepResult {
  std::string key;
  std::filesystem::path folder;
};

class Recipe {
 public:
  /// `root` is made if needed; results go to root/steps.
  explicit Recipe(std::filesystem::path root);

  /// Runs `work(folder)` unless the step's result is already there. `settings` must hold everything the result depends on besides `inputs`.
  StepResult step(const std::string& name, const json& settings, const std::vector<StepResult>& inputs,
                  const std::function<void(const std::filesystem::path&)>& work);

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace piddm
