#include "piddm/solve/teacher.h"

#include "piddm/core/stopwatch.h"
#include "piddm/distill/pairs.h"

namespace piddm {

TeacherMethod::TeacherMethod(const Model& model, const TeacherOptions& options) : model_(model), options_(options) {
  require<UsageError>(model.kind == ModelKind::teacher, "[teacher] this model is a student; use the method piddm");
  require<UsageError>(options.euler_steps >= 1, "method.euler_steps: must be at least 1, got {}", options.euler_steps);
}

Samples TeacherMethod::generate(int64_t first, int64_t n, uint64_t seed) {
  const WorkMeter meter(*model_.network);
  const Stopwatch watch;
  const auto z =
      sample_teacher(model_, model_.latents(seed, Stream::latents, first, n), options_.euler_steps, "teacher samples");
  const auto x = model_.normalizer.to_physical(z);
  return {x.to(torch::kCPU), static_cast<double>(meter.spent().forward) / n, 0, watch.seconds() / n};
}

Samples TeacherMethod::solve(const Observation&, uint64_t) {
  throw UsageError("[teacher] plain sampling cannot take observations; distil a student and use the method piddm");
}

}  // namespace piddm
