#pragma once
// The tasks: what is known of x = (u, a), and what is asked for.

#include <string>
#include <vector>

#include "piddm/pde/pde.h"
#include "piddm/solve/task/functionals.h"

namespace piddm {

/// forward: every coefficient channel is known, and what boundary and initial conditions say of the solution. inverse:
/// every solution channel (and coefficients marked given_in_inverse). reconstruct: a share of the entries of each field
/// channel; scalar channels stay unknown.
enum class Task { generate, forward, inverse, reconstruct };
inline std::vector<std::string> enum_names(Task) { return {"generate", "forward", "inverse", "reconstruct"}; }
Task parse_task(const std::string& name);

/// A task that observes something: anything but generate.
Task parse_solve_task(const std::string& name);
std::string task_name(Task task);

/// Known entries of a batch of samples.
struct Observation {
  Tensor values;  ///< [B,C,H,W] physical units; what the mask does not select is ignored
  Tensor mask;    ///< [B,C,H,W], 1 where known, else 0
  /// [B,C,H,W] standard deviation of the noise of each value, physical units, 0: exact; undefined: all exact.
  Tensor sigma = {};
  Functionals functionals = {};  ///< what is known beside entries: averages, fluxes, points between them; physical
};

/// How much a task reveals of true samples. DiffusionPDE's tasks are points = 500 with forward, inverse and
/// reconstruct.
struct ObserveOptions {
  double share = 0.2;  ///< reconstruct: share of the entries of each field channel that is revealed
  /// Reveal exactly this many random entries of each field channel of the task, in forward and inverse too; 0: off.
  int64_t points = 0;
  std::vector<std::string> channels = {};  ///< reveal these channels only; empty: all the task knows
};

/// What the task reveals of these true samples, without noise. The mask of sample i is a function of (seed, i).
Observation observe(Task task, const Tensor& truth, const Pde& pde, uint64_t seed, const ObserveOptions& options = {});
inline Observation observe(Task task, const Tensor& truth, const Pde& pde, uint64_t seed, double share) {
  return observe(task, truth, pde, seed, ObserveOptions{.share = share});
}

/// Whether the task reveals (part of) this channel.
bool reveals(Task task, const Channel& channel);

}  // namespace piddm
