#include "piddm/experiment/run_origin.h"

#include "piddm/core/log.h"
#include "piddm/files/sha256.h"
#include "piddm/model/weights.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

const std::string kTeacher = "teacher", kStudent = "student", kPosterior = "posterior";
const std::string kReflow = "reflow";  // name: a kind of run

/// The settings that a run of this kind depends on.
json relevant(const Experiment& e, const std::string& kind) {
  json out = {{"seed", e.seed}, {"pde", write_fields(e.pde)}};
  if (kind != kTeacher && kind != kPosterior) {
    out.update({{"distill", write_fields(e.distill)}});
    return out;
  }
  auto data = e.data;
  data.path = "";  // a file may move; its content is part of the origin
  out.update({{"data", write_fields(data)}, {"model", e.model}, {"train", write_fields(e.train)}});
  if (kind == kPosterior) {
    out.update({{"posterior", write_fields(e.posterior)}});
    return out;
  }
  out.update({{"process", e.process},
              {"times", enum_names(e.times).at(static_cast<size_t>(e.times))},
              {"pidm", write_fields(e.pidm)}});  // name: a section's
  return out;
}

struct Change {
  std::string key, before, after;
};

void add_changes(const json& before, const json& after, const std::string& key, std::vector<Change>& changes) {
  if (before == after) return;
  if (!before.is_object() || !after.is_object()) {
    changes.push_back({key, before.dump(), after.dump()});
    return;
  }
  json all = before;
  all.update(after);
  for (const auto& [name, unused] : all.items())
    add_changes(before.value(name, json()), after.value(name, json()), key.empty() ? name : key + "." + name, changes);
}

std::vector<Change> changes_of(const Experiment& before, const Experiment& after, const std::string& kind) {
  std::vector<Change> changes;
  add_changes(relevant(before, kind), relevant(after, kind), "", changes);
  return changes;
}

Experiment stored_in(const fs::path& out) { return parse_experiment(RunFolder::read_config(out), FormerKeys::accept); }

RunOrigin origin_in(const fs::path& out) {
  RunOrigin origin;
  read_fields(RunFolder::read_origin(out), origin, (out / "origin.json").string());
  return origin;
}

void check_continuation(const fs::path& out, const std::string& kind, const Experiment& asked) {
  const auto there = origin_in(out).kind;
  require<UsageError>(there.empty() || there == kind, "{} holds the run of a {}, not of a {}: choose another --out",
                      out.string(), there, kind);
  auto begun = stored_in(out);
  begun.train = begun.train.continued_with(asked.train);
  begun.distill = begun.distill.continued_with(asked.distill);
  for (const auto& [key, before, after] : changes_of(begun, asked, kind))
    throw UsageError(
        "{} was begun with {} = {}, not {}: a run is continued with its own settings; leave them out, or choose "
        "another --out",
        out.string(), key, before, after);
}

void check_origin(const fs::path& out, const RunOrigin& origin) {
  const auto begun = origin_in(out);
  if (begun.kind.empty()) return;  // of an earlier version
  const auto same = [&](const std::string& before, const std::string& now, const char* what) {
    require<UsageError>(before == now,
                        "{} was begun with another {}: continue it with that one or choose another --out", out.string(),
                        what);
  };
  if (begun.data_sha256.empty())
    same(begun.data, origin.data, "data");  // of an earlier version
  else
    same(begun.data_sha256, origin.data_sha256, "data");
  same(begun.teacher, origin.teacher, "teacher");
}

/// Of every value, and of shape and type.
std::string data_digest(const Tensor& fields) {
  Sha256 all;
  all.update(fmt::format("{} {}", c10::toString(fields.scalar_type()), shape_string(fields)));
  for (int64_t i = 0; i < fields.size(0); ++i) all.update(bytes_of(packed(fields.select(0, i))));
  return all.hex();
}

}  // namespace

RunOrigin origin_of_teacher(const Tensor& fields) {
  const int64_t last = fields.size(0) - 1;
  Sha256 ends;
  ends.update(fmt::format("{}", fields.size(0)));
  for (const int64_t i : {int64_t{0}, last}) ends.update(bytes_of(packed(fields.select(0, i))));
  return {.kind = kTeacher, .data_sha256 = data_digest(fields), .data = ends.hex()};
}

RunOrigin origin_of_posterior(const Tensor& fields) { return {.kind = kPosterior, .data_sha256 = data_digest(fields)}; }

RunOrigin origin_of_student(const Model& teacher, const Tensor& truth) {
  return {.kind = kStudent,
          .data_sha256 = truth.defined() ? data_digest(truth) : "",
          .teacher = weights_digest(*teacher.network)};
}

RunOrigin origin_of_reflow(const Model& previous) {
  return {.kind = kReflow, .teacher = weights_digest(*previous.network)};
}

void check_continued(const fs::path& out, const Experiment& experiment) {
  const bool posterior = experiment.kind == ModelKind::posterior;
  if (RunFolder::exists(out)) check_continuation(out, posterior ? kPosterior : kTeacher, experiment);
}

RunFolder open_run(const fs::path& out, const RunOrigin& origin, const Experiment& experiment, bool resume) {
  if (!resume || !RunFolder::exists(out)) return RunFolder::create(out, write_fields(experiment), write_fields(origin));
  auto run = RunFolder::open(out);
  check_continuation(out, origin.kind, experiment);
  check_origin(out, origin);
  for (const auto& [key, before, after] : changes_of(stored_in(out), experiment, origin.kind))
    spdlog::warn("{}: goes on with {} = {} (was {})", out.string(), key, after, before);
  run.store(write_fields(experiment));
  return run;
}

}  // namespace piddm
