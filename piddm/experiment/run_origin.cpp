#include "piddm/experiment/run_origin.h"

#include <algorithm>

#include "piddm/core/log.h"
#include "piddm/files/sha256.h"
#include "piddm/model/weights.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

/// Of the settings below `train`, those that a continued run may have other values of.
const std::vector<std::string> kMayChange = {
    "steps",     "adam",           "log_every", "checkpoint_every", "keep_checkpoints",
    "snapshots", "validate_every", "patience",  "min_improvement",  "precision",
    "graph"};

std::vector<std::string> parts_of(const std::string& pointer) {
  std::vector<std::string> parts;
  for (size_t begin = 1, end = 0; end != std::string::npos; begin = end + 1) {
    end = pointer.find('/', begin);
    parts.push_back(pointer.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

bool may_change(const std::vector<std::string>& key) {
  const auto train = std::find(key.begin(), key.end(), "train");
  return train != key.end() && train + 1 != key.end() &&
         std::find(kMayChange.begin(), kMayChange.end(), *(train + 1)) != kMayChange.end();
}

/// The settings that a run of this kind depends on.
json relevant(const json& config, const std::string& kind) {
  const std::vector<std::string> sections =
      kind == "teacher" ? std::vector<std::string>{"seed", "pde", "data", "model", "process", "times", "train", "pidm"}
                        : std::vector<std::string>{"seed", "pde", "distill"};
  json out;
  for (const auto& section : sections) out[section] = config.at(section);
  if (out.contains("data")) out["data"].erase("path");  // a file may move; its content is part of the origin
  return out;
}

void check_origin(const fs::path& out, const json& origin) {
  const auto begun = RunFolder::read_origin(out);
  if (begun.empty()) return;  // of an earlier version
  for (const char* from : {"data", "teacher"})
    require<UsageError>(begun.value(from, json()) == origin.value(from, json()),
                        "{} was begun with another {}: continue it with that one or choose another --out", out.string(),
                        from);
}

struct Change {
  std::string key, before, after;
  bool allowed;
};

/// From the stored settings to those asked for.
std::vector<Change> changes_of(const fs::path& out, const std::string& kind, const Experiment& asked) {
  const json stored = write_fields(parse_experiment(RunFolder::read_config(out)));
  const json before = relevant(stored, kind), after = relevant(write_fields(asked), kind);
  std::vector<Change> changes;
  for (const auto& change : json::diff(before, after)) {
    const auto pointer = change.at("path").get<std::string>();
    const auto key = parts_of(pointer);
    changes.push_back({fmt::format("{}", fmt::join(key, ".")), before.value(json::json_pointer(pointer), json()).dump(),
                       change.value("value", json()).dump(), may_change(key)});
  }
  return changes;
}

}  // namespace

json origin_of_teacher(const Tensor& fields) {
  Sha256 hash;
  hash.update(fmt::format("{}", fields.size(0)));
  for (const int64_t i : {int64_t{0}, fields.size(0) - 1}) hash.update(bytes_of(packed(fields.select(0, i))));
  return {{"kind", "teacher"}, {"data", hash.hex()}};
}

json origin_of_student(const Model& teacher) {
  return {{"kind", "student"}, {"teacher", weights_digest(*teacher.network)}};
}

json origin_of_reflow(const Model& previous) {
  return {{"kind", "reflow"}, {"teacher", weights_digest(*previous.network)}};
}

void check_continuation(const fs::path& out, const std::string& kind, const Experiment& experiment) {
  if (!RunFolder::exists(out)) return;
  const auto there = RunFolder::read_origin(out).value("kind", kind);
  require<UsageError>(kind == there, "{} holds the run of a {}, not of a {}: choose another --out", out.string(), there,
                      kind);
  for (const auto& [key, before, after, allowed] : changes_of(out, kind, experiment))
    require<UsageError>(
        allowed,
        "{} was begun with {} = {}, not {}: a run is continued with its own settings; leave them out, or "
        "choose another --out",
        out.string(), key, before, after);
}

RunFolder open_run(const fs::path& out, const json& origin, const Experiment& experiment, bool resume) {
  if (!resume || !RunFolder::exists(out)) return RunFolder::create(out, write_fields(experiment), origin);
  auto run = RunFolder::open(out);
  const auto kind = origin.at("kind").get<std::string>();
  check_continuation(out, kind, experiment);
  check_origin(out, origin);
  for (const auto& [key, before, after, allowed] : changes_of(out, kind, experiment))
    spdlog::warn("{}: goes on with {} = {} (was {})", out.string(), key, after, before);
  run.store(write_fields(experiment));
  return run;
}

}  // namespace piddm
