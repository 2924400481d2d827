#pragma once
// A recipe: steps whose results are stored under the hash of their inputs. What `demo` and `reproduce` are written in.
//
// A step's key is the hash of its name, the program's version, its settings and the keys of the steps it builds on, so
// a changed setting reruns only what depends on it, two recipes in one folder share what they have in common, and a
// second run computes nothing. A step works in a folder that survives a kill and gets its final name when it is done:
// training continues, everything else starts over. Several processes may work in one folder: a step that one of them is
// at, the others wait for.

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/files/file_lock.h"
#include "piddm/files/json_file.h"

namespace piddm {

/// A step: what it is called in the store, where its files are, and whether they are there (always, if the recipe
/// runs).
struct StepResult {
  std::string key;
  std::filesystem::path folder;
  bool done = true;
};

/// A step that was asked for while planning.
struct PlannedStep {
  std::string name, key;
  bool done;
  double seconds;  ///< it took, or is expected to take
};

/// read(), which reads files of the step in `folder`; where one of them is damaged the message says what to do about
/// it.
template <class F>
auto of_step(const std::filesystem::path& folder, F&& read) {
  const auto damaged = [&](const std::string& what) {
    return DataError("{}; remove the folder {} to make it again", what, folder.string());
  };
  try {
    return std::forward<F>(read)();
  } catch (const DataError& error) {
    throw damaged(error.what());
  } catch (const UsageError& error) {  // of read_fields
    throw damaged(fmt::format("{}: damaged: {}", folder.string(), error.what()));
  } catch (const nlohmann::json::exception& error) {
    throw damaged(fmt::format("{}: damaged: {}", folder.string(), plain_message(error)));
  } catch (const std::out_of_range&) {
    throw damaged(fmt::format("{}: damaged: an array is missing", folder.string()));
  }
}

/// What a step computed, as JSON: numbers of a table's row, of a floor, of a figure. Version 1 had neither format nor
/// digest.
const JsonFormat& result_format();

class Recipe {
 public:
  enum class Mode { run, plan, look };

  /// `root` is made if needed; results go to root/steps. Mode::plan only writes down what would be done; Mode::look
  /// only reads what is there.
  explicit Recipe(std::filesystem::path root, Mode mode = Mode::run);

  /// Runs `work(folder)` unless the step's result is already there. `settings` must hold everything the result depends
  /// on besides `inputs`. `expected` says how many seconds it may take and is asked while planning only.
  StepResult step(const std::string& name, const json& settings, const std::vector<StepResult>& inputs,
                  const std::function<void(const std::filesystem::path&)>& work,
                  const std::function<double()>& expected = {});

  const std::filesystem::path& root() const { return root_; }
  bool running() const { return mode_ == Mode::run; }

  /// Steps asked for while planning, each once, in order.
  const std::vector<PlannedStep>& plan() const { return plan_; }

 private:
  /// Waits until no other process works on the step.
  FileLock lock_of(const std::string& name, const std::string& key) const;
  void add_to_plan(const std::string& name, const StepResult& step, const std::function<double()>& expected);

  std::filesystem::path root_;
  Mode mode_;
  std::vector<PlannedStep> plan_;
  std::set<std::string> seen_;  ///< keys the log has been told about
};

}  // namespace piddm
