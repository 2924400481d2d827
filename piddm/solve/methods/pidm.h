#pragma once
// PIDM (Bastek et al., ICLR 2025): a diffusion model trained with the residual of its own clean estimate
// (train/pidm.h). Sampled like any teacher; tasks by posterior sampling, as the paper pairs it.

#include "piddm/solve/methods/teacher.h"

namespace piddm {

/// The teacher's options; the paper's compute-matched comparison takes 300 steps.
struct PidmMethodOptions : TeacherOptions {};

class PidmMethod : public TeacherMethod {
 public:
  static constexpr bool kOwn = false;

  /// A UsageError for a model whose training had no residual term.
  PidmMethod(const Model& model, const PidmMethodOptions& options);
  static PidmMethodOptions matched(PidmMethodOptions options);
  static PidmMethodOptions within(const PidmMethodOptions& options, Task task, int64_t evaluations) {
    return {TeacherMethod::within(options, task, evaluations)};
  }
  static std::vector<SearchFamily> search(const Model& model, Task task);
};

}  // namespace piddm
