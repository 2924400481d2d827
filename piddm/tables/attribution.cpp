#include "piddm/tables/attribution.h"

#include <algorithm>

#include "piddm/core/config.h"
#include "piddm/tables/entries.h"

namespace piddm {

namespace {

using Names = std::vector<std::string>;
using Pointer = json::json_pointer;

constexpr double kAdversaryWeight = 0.1, kAdversaryFrom = 0.1, kMean = 10, kFresh = 0.5;
constexpr int64_t kLocalSkip = 3, kCorrections = 5;
const std::string kDecoded = ", decoded", kCut = ", cut and decoded";
const std::string kTeacher = "teacher", kPlainTeacher = "teacher, 1x1 skips", kPapersTeacher = "paper's teacher";
const std::string kPapers = "paper's PIDDM", kPapersTask = "paper's PIDDM, Algorithm 3";

json& at(json& experiment, const char* key) { return experiment[Pointer(key)]; }

/// A part of the student: what the experiment (as JSON) is without it, and with its usual values where it has none of
/// it; `with` returns whether the PDE can have it.
struct Component {
  std::string row, meaning;
  void (*without)(json&);
  bool (*with)(json&, const Pde&) = nullptr;
};

bool is_local(const json& network) { return network.value("skip", int64_t{1}) == kLocalSkip; }

void without_local_skips(json& e) {
  if (!is_local(e["model"]) && !is_local(at(e, "/distill/model"))) return;
  e["model"].erase("skip");
  at(e, "/distill/model") = json::object();
  at(e, "/distill/heads/band_limited") = true;
}

bool with_local_skips(json& e, const Pde&) {
  if (e["model"].value("type", "") != "fno") return false;
  auto& own = at(e, "/distill/model") = e["model"];
  own["skip"] = kLocalSkip;
  at(e, "/distill/heads/band_limited") = false;
  return true;
}

bool has_two_values(const Pde& pde) {
  const auto& channels = pde.channels();
  return std::any_of(channels.begin(), channels.end(), [](const Channel& c) { return c.two_valued.has_value(); });
}

void without_heads(json& e) {
  at(e, "/distill/heads") = json::object();
  auto& precision = at(e, "/distill/train/precision");
  if (precision == "bf16") precision = "tf32";  // rounding that the smooth head keeps out of the residual
}

/// In the order in which they are added.
const std::vector<Component>& components() {
  static const std::vector<Component> list = {
      {"heads", "heads alone: band-limited latent, smooth, bounded, constrained, as the PDE has them", without_heads},
      {"physics", "the residual (and boundary terms) of the final sample alone, at a learning rate that works",
       [](json& e) { at(e, "/distill/loss/lambda") = at(e, "/distill/loss/boundary") = 0.0; }},
      {"+ distance", "Huber's distance instead of squares, and the weight of the solution channels in it",
       [](json& e) { at(e, "/distill/loss/huber") = 0.0, at(e, "/distill/loss/solution_weight") = 1.0; }},
      {"+ error", "the error of u behind the residual, by the fast solver",
       [](json& e) { at(e, "/distill/loss/error") = 0.0; }},
      {"+ spread", "the difference in standard deviation to the pairs",
       [](json& e) { at(e, "/distill/loss/spread") = 0.0; }},
      {"+ fresh", "new latents for the physics terms", [](json& e) { at(e, "/distill/loss/fresh") = 0.0; },
       [](json& e, const Pde&) {
         at(e, "/distill/loss/fresh") = kFresh;
         return true;
       }},
      {"+ local skips", "3x3 skips beside the spectral path, and the whole latent", without_local_skips,
       with_local_skips},
      {"+ physics on u", "no gradient of the physics terms in the coefficients",
       [](json& e) { at(e, "/distill/loss/freeze_coefficients") = false; },
       [](json& e, const Pde&) {
         at(e, "/distill/loss/freeze_coefficients") = true;
         return true;
       }},
      {"+ sharp", "the coefficient cut to its two values inside the student",
       [](json& e) { at(e, "/distill/heads/sharp") = false; },
       [](json& e, const Pde& pde) {
         at(e, "/distill/heads/sharp") = true;
         return has_two_values(pde) && at(e, "/distill/heads/bounded") == true;
       }},
      {"+ adversary", "a patch discriminator against true data",
       [](json& e) { at(e, "/distill/loss/adversary/weight") = 0.0; },
       [](json& e, const Pde&) {
         at(e, "/distill/loss/adversary/weight") = kAdversaryWeight;
         at(e, "/distill/loss/adversary/from") = kAdversaryFrom;
         return true;
       }},
      {"+ mean", "the difference in mean to the pairs: an adversary of patches lets the large scales drift",
       [](json& e) { at(e, "/distill/loss/mean") = 0.0; },
       [](json& e, const Pde&) {
         at(e, "/distill/loss/mean") = kMean;
         return true;
       }},
      {"+ corrector", "iterations of the fast solver on the sample's own coefficients inside the one evaluation",
       [](json& e) { at(e, "/distill/heads/corrector") = 0; },
       [](json& e, const Pde& pde) {
         at(e, "/distill/heads/corrector") = kCorrections;
         return pde.has_corrector();
       }},
  };
  return list;
}

constexpr size_t kHeads = 0, kPhysics = 1, kFirstOnTop = 2;
const std::string kBare = "bare", kBoth = "heads + physics";

/// The experiment with these components only, in full.
json only(json experiment, const std::vector<bool>& has) {
  for (size_t i = components().size(); i-- > 0;)
    if (!has[i]) components()[i].without(experiment);
  return write_fields(parse_experiment(experiment));
}

/// Rows without those that repeat an earlier one.
class Ladder {
 public:
  void add(const std::string& name, const std::string& meaning, const json& experiment) {
    if (std::find(seen_.begin(), seen_.end(), experiment) != seen_.end()) return;
    seen_.push_back(experiment);
    rows.push_back({name, meaning, parse_experiment(experiment)});
  }
  std::vector<AttributedRow> rows;

 private:
  std::vector<json> seen_;
};

/// What latent optimisation has beyond the paper's: keys of `solve`.
struct SolverPart {
  std::string row, meaning;
  Names keys;
};
const std::vector<SolverPart>& solver_parts() {
  static const std::vector<SolverPart> list = {
      {"+ L-BFGS", "L-BFGS with strong Wolfe steps instead of Adam", {"/task/optimizer", "/task/step"}},
      {"+ preconditioner",
       "the residual measured by the solution error it stands for",
       {"/precondition", "/lambda", "/boundary"}},
      {"+ spread", "the search starts near the middle of the latents", {"/spread"}},
      {"+ annealing", "a tenth of lambda at first", {"/anneal"}},
      {"+ reach", "the misfit left at known entries carried to those around them", {"/reach"}},
  };
  return list;
}
const std::string kAlgorithm3 = "Algorithm 3";

/// A control of the teacher's samples: a low-pass of u at this share of the grid's modes.
struct LowPassRow {
  std::string name;
  FilterForm form;
  double share;  ///< 8: an eighth
};
const std::vector<LowPassRow>& low_passes() {
  static const std::vector<LowPassRow> list = {
      {"teacher, low-pass sixteenth", FilterForm::sharp, 16}, {"teacher, low-pass eighth", FilterForm::sharp, 8},
      {"teacher, low-pass quarter", FilterForm::sharp, 4},    {"teacher, smoothed eighth", FilterForm::smooth, 8},
      {"teacher, smoothed quarter", FilterForm::smooth, 4},   {"teacher, smoothed half", FilterForm::smooth, 2}};
  return list;
}

/// Entries of one PDE, those of the rows that are chosen.
class Rows {
 public:
  Rows(const TableOptions& options, Names chosen) : options_(options), chosen_(std::move(chosen)) {}

  void add(const std::string& name, Entry entry, bool decoded) {
    if (std::find(chosen_.begin(), chosen_.end(), name) == chosen_.end()) return;
    entries.push_back(with_setting(entry, name));
    if (!decoded) return;
    entry.decode = true;
    entries.push_back(with_setting(entry, name + kDecoded));
    entry.two_valued = has_two_values(*make_pde(entry.experiment.pde));
    if (entry.two_valued) entries.push_back(with_setting(entry, name + kCut));
  }
  void add_teachers(const Experiment& experiment);
  void add_students(const std::string& pde);

  std::vector<Entry> entries;

 private:
  const TableOptions& options_;
  Names chosen_;
};

void Rows::add_teachers(const Experiment& experiment) {
  const auto entry = generation(options_, experiment, "teacher");
  add(kTeacher, entry, true);
  auto rounded = entry;
  rounded.options["precision"] = "bf16";
  add("teacher in bf16", rounded, false);
  for (const auto& [name, form, share] : low_passes()) {
    auto filtered = entry;
    filtered.filter = SolutionFilter{form, static_cast<double>(experiment.pde.grid.smaller()) / share};
    add(name, filtered, false);
  }
  json plain = write_fields(experiment);
  without_local_skips(plain);
  const auto former = parse_experiment(plain);
  if (former.model != experiment.model) add(kPlainTeacher, generation(options_, former, "teacher"), true);
  const auto papers = paper_experiment(options_, experiment.pde.name);
  auto own = generation(options_, papers, "teacher");
  own.options.update({{"integrator", "euler"}, {"spacing", "uniform"}, {"steps", papers.distill.pairs.steps}});
  add(kPapersTeacher, own, false);
}

void Rows::add_students(const std::string& pde) {
  add(kPapers, generation(options_, paper_experiment(options_, pde), "piddm-1"), true);
  for (const auto& row : attributed_students(options_, pde))
    add(row.name, generation(options_, row.experiment, "piddm-1"), true);
}

/// Every name there is, whatever the PDE.
Names row_names() {
  Names out = {kTeacher, "teacher in bf16"};
  for (const auto& row : low_passes()) out.push_back(row.name);
  for (const auto& name :
       {kPlainTeacher, kPapersTeacher, kPapers, kBare, components()[kHeads].row, components()[kPhysics].row, kBoth})
    out.push_back(name);
  for (size_t i = kFirstOnTop; i < components().size(); ++i) out.push_back(components()[i].row);
  return out;
}

Names task_row_names() {
  Names out = {kPapersTask, kAlgorithm3};
  for (const auto& part : solver_parts()) out.push_back(part.row);
  return out;
}

void require_rows(const std::vector<Entry>& entries) {
  require<UsageError>(!entries.empty(), "settings: none of these rows is there with these PDEs and options");
}

}  // namespace

Experiment paper_experiment(const TableOptions& options, const std::string& pde) {
  auto as = options;
  as.preset = "-paper";
  const json sized = write_fields(table_experiment(as, pde));
  json out = write_fields(parse_experiment(load_config(pde + as.preset)));
  for (const char* key :
       {"/pde", "/data", "/model", "/train/steps", "/train/batch", "/distill/train/steps", "/distill/train/batch",
        "/distill/train/validate_every", "/distill/pairs/steps", "/distill/pairs/chunk", "/distill/pairs/every",
        "/distill/pairs/pool", "/distill/pairs/held_out", "/solve/task/iterations"})
    at(out, key) = sized.at(Pointer(key));
  out["model"].erase("skip");
  return parse_experiment(out);
}

std::vector<AttributedRow> attributed_students(const TableOptions& options, const std::string& pde) {
  const auto whole = table_experiment(options, pde);
  const json experiment = write_fields(whole);
  const size_t count = components().size();
  std::vector<bool> has(count, false);
  const auto with = [&](bool heads, bool physics) {
    has[kHeads] = heads, has[kPhysics] = physics;
    return only(experiment, has);
  };
  Ladder ladder;
  ladder.add(kBare, "without heads and physics, squared distance: plain distillation", with(false, false));
  for (const size_t i : {kHeads, kPhysics})
    ladder.add(components()[i].row, components()[i].meaning, with(i == kHeads, i == kPhysics));
  ladder.add(kBoth, "both", with(true, true));
  std::vector<size_t> absent;
  for (size_t i = kFirstOnTop; i < count; ++i) {
    std::vector<bool> all_but(count, true);
    all_but[i] = false;
    if (only(experiment, all_but) == experiment) absent.push_back(i);
    has[i] = true;
    ladder.add(components()[i].row, components()[i].meaning, only(experiment, has));
  }
  json beyond = experiment;
  const auto law = make_pde(whole.pde);
  for (const size_t i : absent) {
    auto next = beyond;
    if (!components()[i].with || !components()[i].with(next, *law)) continue;
    beyond = write_fields(parse_experiment(next));
    ladder.add(components()[i].row, components()[i].meaning, beyond);
  }
  return ladder.rows;
}

std::vector<AttributedRow> attributed_solvers(const TableOptions& options, const std::string& pde) {
  const json experiment = write_fields(table_experiment(options, pde));
  const json papers = write_fields(paper_experiment(options, pde).solve);
  const auto& parts = solver_parts();
  Ladder ladder;
  for (size_t has = 0; has <= parts.size(); ++has) {
    json row = experiment;
    for (size_t i = has; i < parts.size(); ++i)
      for (const auto& key : parts[i].keys) row["solve"][Pointer(key)] = papers.at(Pointer(key));
    if (has == 0)
      ladder.add(kAlgorithm3, "Algorithm 3 of the paper as it stands", row);
    else
      ladder.add(parts[has - 1].row, parts[has - 1].meaning, row);
  }
  return ladder.rows;
}

TableRecipe table_attribution() {
  std::string rows;
  for (const auto& component : components()) rows += fmt::format("; {}: {}", component.row, component.meaning);
  return {.columns = {"pde_error", "rel_residual", "solution_error", "mmse", "smse", "swd", "apdd", "frechet_teacher",
                      "between", "interface_ratio", "islands_ratio", "worst_band", "classifier", "nfe",
                      "seconds_per_sample", "training_seconds"},
          .entries =
              [](const TableOptions& o) {
                std::vector<Entry> out;
                for (const auto& pde : chosen("PDE", o.pdes, {"darcy", "poisson", "burgers"})) {
                  Rows of_pde(o, chosen("setting", o.settings, row_names()));
                  of_pde.add_teachers(table_experiment(o, pde));
                  of_pde.add_students(pde);
                  out.insert(out.end(), of_pde.entries.begin(), of_pde.entries.end());
                }
                require_rows(out);
                return out;
              },
          .takes = {"pdes", "settings"},
          .reading =
              "What the result is made of. Ratios are to the row 'teacher'. Low-pass and smoothed: u of the "
              "teacher's samples without modes beyond that share of the grid's, sharply or by the filter of the "
              "smooth head. paper's: the preset PDE-paper, teacher and student, learning rate 3e-2 and all. bare: "
              "plain distillation; heads and physics: each alone; each row with a + has all above it; cut: "
              "coefficients at the nearer of their two values" +
              rows + ".",
          .reference = "teacher"};
}

TableRecipe table_attribution_tasks() {
  std::string rows;
  for (const auto& part : solver_parts()) rows += fmt::format("; {}: {}", part.row, part.meaning);
  return {.columns = {"mse_u", "mse_a", "rel_l2_u", "misclassified", "pde_error", "rel_residual", "solution_error",
                      "nfe", "backward", "seconds_per_sample"},
          .entries =
              [](const TableOptions& o) {
                std::vector<Entry> out;
                const auto names = chosen("setting", o.settings, task_row_names());
                for (const auto& pde :
                     chosen("PDE", o.pdes.empty() ? Names{"darcy"} : o.pdes, {"darcy", "poisson", "burgers"}))
                  for (const auto& task : chosen("task", o.tasks, {"forward", "inverse", "reconstruct"})) {
                    Rows of_task(o, names);
                    of_task.add(kPapersTask, task_entry(o, paper_experiment(o, pde), task, "piddm"), false);
                    for (const auto& row : attributed_solvers(o, pde))
                      of_task.add(row.name, task_entry(o, row.experiment, task, "piddm"), false);
                    out.insert(out.end(), of_task.entries.begin(), of_task.entries.end());
                  }
                require_rows(out);
                return out;
              },
          .takes = {"pdes", "tasks", "settings"},
          .reading =
              "What latent optimisation gains beyond the paper's, at the same number of evaluations. paper's "
              "PIDDM: the preset PDE-paper, student and all. The other rows have the student of the options; "
              "Algorithm 3: as the paper has it; each row with a + has all above it" +
              rows + "."};
}

}  // namespace piddm
