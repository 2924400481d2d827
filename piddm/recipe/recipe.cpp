#include "piddm/recipe/recipe.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "piddm/core/device.h"
#include "piddm/core/input_file.h"
#include "piddm/core/interrupt.h"
#include "piddm/core/log.h"
#include "piddm/core/stopwatch.h"
#include "piddm/files/json_file.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLocks = ".locks";  // a file for every step, so that a folder can be renamed while others wait
constexpr auto kPatience = std::chrono::milliseconds(200);

/// Version 1 had neither format nor digest.
const JsonFormat& step_format() {
  static const JsonFormat format{.name = "piddm-step", .version = 2, .max_bytes = size_t{1} << 20, .remedy = ""};
  return format;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw ResourceError("{}: cannot make this folder: {}", folder.string(), error.message());
}

}  // namespace

const JsonFormat& result_format() {
  static const JsonFormat format{.name = "piddm-result", .version = 2, .remedy = ""};
  return format;
}

Recipe::Recipe(fs::path root, Mode mode) : root_(std::move(root)), mode_(mode) {
  if (running()) make_folder(root_ / "steps"), make_folder(root_ / kLocks);
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
  const auto lock = lock_of(name, key);
  seen_.insert(key);
  if (fs::exists(done / "step.json")) return {key, done};  // by another process in the meantime
  make_folder(unfinished);
  const Stopwatch watch;
  work(unfinished);
  identity.erase("version");  // that of the program is part of the machine
  identity["seconds"] = watch.seconds();
  identity["machine"] = machine;
  write_json_file(unfinished / "step.json", step_format(), identity);
  std::error_code error;
  fs::remove_all(done, error);  // what is there without a step.json is not whole
  fs::rename(unfinished, done, error);
  if (error) throw ResourceError("{}: cannot be renamed: {}", unfinished.string(), error.message());
  return {key, done};
}

void Recipe::add_to_plan(const std::string& name, const StepResult& step, const std::function<double()>& expected) {
  if (std::any_of(plan_.begin(), plan_.end(), [&](const auto& planned) { return planned.key == step.key; })) return;
  double seconds = 0;
  if (step.done)
    seconds = of_step(step.folder, [&] {
      return read_json_file(step.folder / "step.json", step_format()).at("seconds").get<double>();
    });
  else if (expected)
    seconds = expected();
  plan_.push_back({name, step.key, step.done, seconds});
}

FileLock Recipe::lock_of(const std::string& name, const std::string& key) const {
  for (bool told = false;; std::this_thread::sleep_for(kPatience)) {
    throw_if_interrupted("waiting for another process");
    if (auto lock = FileLock::try_acquire(root_ / kLocks / key)) return std::move(*lock);
    if (!std::exchange(told, true)) spdlog::info("{:<28} another process is at it, waiting", name);
  }
}

}  // namespace piddm
