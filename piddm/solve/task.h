#pragma once
// The tasks: what is known of x = (u, a), and what is asked for.

#include <string>
#include <vector>

#include "piddm/pde/pde.h"

namespace piddm {

/// forward: every coefficient channel is known, and what boundary and initial conditions say of the solution. inverse: every solution channel
/// (and coefficients marked given_in_inverse). reconstruct: a share of the entries of each field channel; scalar channels stay unknown.
enum class Task { generate, forward, inverse, reconstruct };
inline std::vector<std::string> enum_names(Task) { return {"generate", "forward", "inverse", "reconstruct"}; }
Task parse_task(const std::string& name);
std::string task_name(Task task);

/// Known entries of a batch of samples.
struct Observation {
  Tensor values;  ///< [B,C,H,W] physical units; what the mask does not select is ignored
  Tensor mask;    ///< [B,C,H,W], 1 where known, else 0
};

/// What the task reveals of these true samples. The mask of sample i is a function of (seed, i).
Observation observe(Task task, const Tensor& truth, const Pde& pde, uint64_t seed, double share = 0.2);

}  // namespace piddm
