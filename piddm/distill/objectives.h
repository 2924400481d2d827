#pragma once
// The ways to distil a student, by name, and everything a distillation can be told.
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

#include "piddm/core/registry.h"
#include "piddm/distill/consistency.h"
#include "piddm/distill/dmd.h"
#include "piddm/distill/reflow.h"
#include "piddm/train/trainer.h"

namespace piddm {

/// Student, pairs, loss and training of a distillation.
struct DistillOptions {
  std::string objective = "regression";
  json model = json::object();
  HeadOptions heads;
  PairOptions pairs;
  StudentLossOptions loss;
  ReflowOptions reflow;
  DmdOptions dmd;
  DmdOptions dmd2 = {.critic_steps = 5, .regression = 0, .warm_up = 500};
  ConsistencyOptions consistency;
  TrainOptions train = {.precision = Precision::fp32};  // residuals of the student's output need it
  template <class V>
  void fields(V&& f) {
    f("objective", objective, "regression, reflow, reflow2, dmd, dmd2 or consistency");
    f("model", model, "network of the student, in the form of [model]; empty: the teacher's, weights copied");
    f("heads", heads, "what makes the student's output; all off: the paper's plain student");
    f("pairs", pairs, "noise-data pairs of the teacher");
    f("loss", loss, "distance to samples and physics term");
    f("reflow", reflow, "rounds of reflow and reflow2");
    f("dmd", dmd, "distribution matching");
    f("dmd2", dmd2, "distribution matching at two time scales");
    f("consistency", consistency, "consistency distillation");
    f("train", train, "training of the student");
  }
};

/// What an objective is made of; all of it must outlive the objective.
struct DistillSetup {
  const Student& student;
  const Model& model;    ///< the student's
  const Model& teacher;  ///< after its rounds of reflow, if any
  PairSource& pairs;     ///< of this teacher
  const DistillOptions& options;
  uint64_t seed;
};

const Registry<std::unique_ptr<Objective>(const DistillSetup&)>& objective_registry();

/// The student before its first step. A network of its own has fresh weights of `seed` and answers with d(e) = e -
/// v(e,1), the linear process, whatever the process of the teacher is: at t = 1 those of VP and sub-VP multiply v by
/// 15. Only consistency keeps the teacher's, whose times its map lives on. A UsageError where network, heads and PDE do
/// not go together.
Model make_student(const Model& teacher, const DistillOptions& options, uint64_t seed);

/// Makes the network of `options.model` once, for its errors.
void check_student_network(const DistillOptions& options);

/// Rounds of reflow that come before the student.
int64_t reflow_rounds(const std::string& objective);

}  // namespace piddm
