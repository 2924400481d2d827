#pragma once
// Options of a method chosen on validation samples that no table uses: what `piddm tune` does.
//
// Truth: samples number 2,000,000 and up of the PDE's law (training takes the first, tables 1,000,000 and up).
// Generated samples have numbers from 1,000,000 on in the seed's stream, where tables take the first.
//
// A family of settings (solve/search.h) is first tried as it is by default, then at random points of its axes; families
// take turns until the budget is spent. The best try is the one with the least score:
//   generation   `metric` (pde_error), among tries that keep the law: mmse and smse at most `keep` times what the
//                model's own method has, or the floor where that is more
//   tasks        the mean over channels of mse
// Runs that diverged are never chosen.
//
// What a method owes to its model's training (PIDM's weight of the residual) is tuned by giving several models of one
// PDE: every family is tried on each of them in turn. The law is that of `plain`, or of the first model.

#include <optional>
#include <string>
#include <vector>

#include "piddm/eval/evaluate.h"
#include "piddm/recipe/result.h"

namespace piddm {

struct TuneOptions {
  std::string method = "";
  Task task = Task::generate;
  int64_t budget = 32;
  int64_t samples = 64;
  int64_t held_out = 512;
  uint64_t seed = 0;
  std::string metric = "pde_error";
  double keep = 1.5;
  json settings = json::object();

  template <class V>
  void fields(V&& f) {
    f("method", method, "the method");
    f("task", task, "generate, forward, inverse or reconstruct");
    f("budget", budget, count_from(1, 1e6), "settings that are tried");
    f("samples", samples, count_from(4, 1e6), "samples or cases each of them is judged by");
    f("held_out", held_out, count_from(4, 1e6), "true samples behind mmse and smse");
    f("seed", seed, kSeeds, "seed of samples, starts and settings");
    f("metric", metric, "generation: what is to be small");
    f("keep", keep, at_least(1), "generation: how many times mmse and smse of the model's own method are allowed");
    f("settings", settings, "options that every try has, e.g. steps");
  }
};

/// A model to tune a method on, and what it is called in the report.
struct TunedModel {
  std::string name;
  Model model;
};

/// Settings that were tried, and what came of them.
struct Try {
  std::string model = {};
  std::string family = {};
  json options = json::object();  ///< on top of the method's own
  Result result = {};
  double score = 0;         ///< not finite where there is none
  bool admissible = false;  ///< may be chosen
};

struct TuneReport {
  TuneOptions options;
  std::string pde;
  std::vector<Try> tries = {};
  size_t chosen = 0;       ///< number of the best try; tries.size(): none may be chosen
  Scores floor = {};       ///< generation: of true data, with as many samples
  Scores plain = {};       ///< generation: the model's own method, whose law is to be kept
  double evaluations = 0;  ///< network evaluations and backward passes of all tries
  double seconds = 0;
};

/// A UsageError where the method has nothing to tune, cannot do the task, needs another model, or the models are of
/// different PDEs.
TuneReport tune(const std::vector<TunedModel>& models, const TuneOptions& options,
                const std::optional<Model>& plain = std::nullopt);

/// All tries with their scores, the chosen options, seeds, validation range, build and machine.
json to_json(const TuneReport& report);

/// The tries from best to worst, for a terminal, and the chosen options as `--set` of reproduce.
std::string format_tune(const TuneReport& report);

/// Draw number `number` of a family: its fixed options and a point of its axes, a function of (seed, number); number 0
/// is the family as it is by default.
json drawn_options(const SearchFamily& family, uint64_t seed, int64_t number);

}  // namespace piddm
