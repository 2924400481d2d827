#include "piddm/recipe/recipe.h"

#include <algorithm>

#include "piddm/core/atomic_file.h"
#include "piddm/core/device.h"
#include "piddm/core/json_text.h"
#include "piddm/core/log.h"
#include "piddm/core/sha256.h"
#include "piddm/core/stopwatch.h"

namespace piddm {

namespace fs = std::filesystem;

Recipe::Recipe(fs::path root, Mode mode) : root_(std::move(root)), mode_(mode) {
  if (!running()) return;
  std::error_code error;
  fs::create_directories(root_ / "steps", error);
  if (error) throw ResourceError("{}: cannot make this folder: {}", root_.string(), error.message());
}

StepResult Recipe::step(const std::string& name, const json& settings, const std::vector<StepResult>& inputs,
                        const std::function<void(const fs::path&)>& work, const std::function<double()>& expected) {
  const auto machine = describe_machine();
  json identity = {{"step", name}, {"version", machine.at("piddm")}, {"settings", settings}, {"inputs", json::array()}};
  for (const auto& input : inputs) identity["inputs"].push_back(input.key);
  const std::string key = name + "-" + sha256_hex(identity.dump()).substr(0, 16);
  const auto done = root_ / "steps" / key, unfinished = root_ / "steps" / ("unfinished-" + key);
  StepResult result{key, done, fs::exists(done / "step.json")};
  if (mode_ == Mode::plan) add_to_plan(name, result, expected);
  if (result.done && running() && seen_.insert(key).second) spdlog::info("{:<28} already done", name);
  if (result.done || !running()) return result;
  std::error_code error;
  fs::create_directories(unfinished, error);
  if (error) throw ResourceError("{}: cannot make this folder: {}", unfinished.string(), error.message());

  seen_.insert(key);
  const Stopwatch watch;
  work(unfinished);
  identity["seconds"] = watch.seconds();
  identity["machine"] = machine;
  write_file_atomically(unfinished / "step.json", identity.dump(2) + "\n");
  fs::rename(unfinished, done, error);
  if (error) throw ResourceError("{}: cannot be renamed: {}", unfinished.string(), error.message());
  return {key, done};
}

void Recipe::add_to_plan(const std::string& name, const StepResult& step, const std::function<double()>& expected) {
  if (std::any_of(plan_.begin(), plan_.end(), [&](const auto& planned) { return planned.key == step.key; })) return;
  double seconds = 0;
  if (step.done)
    seconds = parse_json(read_file(step.folder / "step.json", 1 << 20), "step.json").value("seconds", 0.0);
  else if (expected)
    seconds = expected();
  plan_.push_back({name, step.key, step.done, seconds});
}

}  // namespace piddm
