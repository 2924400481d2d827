#pragma once
// The ways to distil a student, one card each, and everything a distillation can be told.
//
//   regression    ||d(e) - x_0||^2 on the teacher's pairs (the paper's PIDDM)
//   reflow        one round of reflow, then regression on the pairs of the straightened teacher (RF-1)
//   reflow2       two rounds (RF-2)
//   dmd           distribution matching with a critic and a regression term
//   dmd2          distribution matching with a critic that takes five steps for one, pairs in the first steps only
//   consistency   the student's map is the same along the teacher's trajectories
//
// Each takes the physics of the final sample with it (student_objective.h); lambda = boundary = error = 0 leaves it
// out.
//
// The student's network is the teacher's, weights copied, so that d(e) starts as the teacher's clean estimate at t = 1;
// or one of its own (`model`), smaller or of another kind, with fresh weights. Every objective takes either: teacher
// and critic keep the teacher's network.
//
// A new objective is its file pair, its options in ObjectiveOptions and its card in objectives.cpp.

#include <variant>

#include "piddm/distill/consistency.h"
#include "piddm/distill/dmd.h"
#include "piddm/distill/reflow.h"
#include "piddm/train/trainer.h"

namespace piddm {

struct NoOptions {};
using ObjectiveOptions = std::variant<NoOptions, ReflowOptions, DmdOptions, ConsistencyOptions>;

/// Student, pairs, loss and training of a distillation. Of the sections [distill.<objective>] only the one of its own
/// objective is kept; those of others are read strictly and left out.
struct DistillOptions {
  std::string objective = "regression";
  json model = json::object();
  HeadOptions heads;
  PairOptions pairs;
  StudentLossOptions loss;
  ObjectiveOptions own;                                 ///< of the objective
  TrainOptions train = {.precision = Precision::fp32};  // residuals of the student's output need it

  /// Another objective, with its usual options.
  void choose(const std::string& name);

  template <class V>
  void fields(V&& f);
  json own_keys(json table, const std::string& path, FormerKeys policy) const;

  /// These options with those of `later` that a run may be continued with.
  DistillOptions continued_with(const DistillOptions& later) const;
};

/// What an objective is made of; all of it must outlive the objective.
struct DistillSetup {
  const Student& student;
  const Model& model;    ///< the student's
  const Model& teacher;  ///< after its rounds of reflow, if any
  PairSource& pairs;     ///< of this teacher
  const DistillOptions& options;
  uint64_t seed;
  Tensor data = {};  ///< true samples in network units on the student's device, where there is an adversary
};

/// Network evaluations per sample of a batch, without and with a gradient.
struct StepCost {
  double forward = 0, gradient = 0;
};

struct ObjectiveCard {
  std::string name, summary;
  std::string section = "";  ///< its options are distill.SECTION; empty: it has none
  ObjectiveOptions usual = NoOptions{};
  int64_t rounds = 0;          ///< of reflow before it
  bool keeps_process = false;  ///< a student with a network of its own lives on the times of the teacher's process

  std::unique_ptr<StudentObjective> (*make)(const DistillSetup&) = nullptr;
  StepCost (*step_cost)(const DistillOptions&) = nullptr;        ///< of a training step on average
  int64_t (*steps_with_pairs)(const DistillOptions&) = nullptr;  ///< training steps that need the teacher's pairs

  /// A UsageError where options do not go together; each number is within its bounds already. May be missing.
  void (*check)(const DistillOptions&) = nullptr;
};

const std::vector<ObjectiveCard>& objective_cards();

/// A UsageError with the nearest name where there is none of this name.
const ObjectiveCard& objective_card(const std::string& name);

/// The objective of these options, with its adversary if they ask for one.
std::unique_ptr<Objective> make_objective(const DistillSetup& setup);

/// The sections of all objectives, one "PREFIX.SECTION.key = default    # meaning" line per key, for `--keys`.
std::string describe_objectives(const std::string& prefix);

/// A UsageError where numbers are out of bounds or options do not go together. Of the PDE it needs what the loss does.
void check_distillation(const DistillOptions& options, const Pde& pde);

/// The student before its first step. A network of its own has fresh weights of `seed` and answers with d(e) = e -
/// v(e,1), the linear process, whatever the process of the teacher is (at t = 1 those of VP and sub-VP multiply v by
/// 15), unless the objective keeps it. A UsageError where network, heads and PDE do not go together.
Model make_student(const Model& teacher, const DistillOptions& options, uint64_t seed);

template <class V>
void DistillOptions::fields(V&& f) {
  const auto before = objective;
  f("objective", objective, "how: see `piddm distill --help`");
  if (objective != before) choose(objective);  // it was just read
  f("model", model, "network of the student, in the form of [model]; empty: the teacher's, weights copied");
  f("heads", heads, "what makes the student's output; all off: the paper's plain student");
  f("pairs", pairs, "noise-data pairs of the teacher");
  f("loss", loss, "distance to samples and physics terms");
  const auto& card = objective_card(objective);
  std::visit(
      [&](auto& options) {
        if constexpr (detail::HasFields<std::remove_reference_t<decltype(options)>>)
          f(card.section.c_str(), options, card.summary.c_str());
      },
      own);
  f("train", train, "training of the student");
}

}  // namespace piddm
