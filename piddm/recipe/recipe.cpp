#include "piddm/recipe/recipe.h"

#include "piddm/core/atomic_file.h"
#include "piddm/core/device.h"
#include "piddm/core/log.h"
#include "piddm/core/sha256.h"
#include "piddm/core/stopwatch.h"

namespace piddm {

namespace fs = std::filesystem;

Recipe::Recipe(fs::path root) : root_(std::move(root)) {
  std::error_code error;
  fs::create_directories(root_ / "steps", error);
  if (error) throw ResourceError("{}: cannot make this folder: {}", root_.string(), error.message());
}

StepResult Recipe::step(const std::string& name, const json& settings, const std::vector<StepResult>& inputs,
                        const std::function<void(const fs::path&)>& work) {
  const auto machine = describe_machine();
  json identity = {{"step", name}, {"version", machine.at("piddm")}, {"settings", settings}, {"inputs", json::array()}};
  for (const auto& input : inputs) identity["inputs"].push_back(input.key);
  const std::string key = name + "-" + sha256_hex(identity.dump()).substr(0, 16);
  const auto done = root_ / "steps" / key, unfinished = root_ / "steps" / ("unfinished-" + key);
  if (fs::exists(done / "step.json")) {
    spdlog::info("{:<28} already done", name);
    return {key, done};
  }
  std::error_code error;
  fs::create_directories(unfinished, error);
  if (error) throw ResourceError("{}: cannot make this folder: {}", unfinished.string(), error.message());

  const Stopwatch watch;
  work(unfinished);
  identity["seconds"] = watch.seconds();
  identity["machine"] = machine;
  write_file_atomically(unfinished / "step.json", identity.dump(2) + "\n");
  fs::rename(unfinished, done, error);
  if (error) throw ResourceError("{}: cannot be renamed: {}", unfinished.string(), error.message());
  return {key, done};
}

}  // namespace piddm
