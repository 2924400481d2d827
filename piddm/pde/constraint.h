#pragma once
// Hard constraints: a field [B,C,H,W] changed as little as its kind allows so that a condition holds exactly. The kinds
// of ECI sampling (Cheng et al., "Gradient-free generation for hard-constrained systems", ICLR 2025), each for one
// channel:
//
//   dirichlet      given values where a mask is true
//   slice          given values on one line of entries: the initial state (first t), a boundary (first or last x),
//                  or any other
//   periodic       first and last slice of an axis set to their average
//   conservation   one constant added along the axes so that mean * area = value there, for every remaining index
//   chain          several, in order
//
// From a file they are read by make_constraint; docs/constraints.md has its keys with examples.

#include <memory>
#include <vector>

#include "piddm/core/registry.h"
#include "piddm/core/tensor.h"
#include "piddm/pde/pde.h"

namespace piddm {

class Constraint {
 public:
  virtual ~Constraint() = default;

  /// x = [B,C,H,W] with the constraint imposed; differentiable, other entries unchanged. A DataError if the shapes do
  /// not fit.
  virtual Tensor adjust(const Tensor& x) const = 0;

  /// Which entries of a sample it can change: [C,H,W] bool on the device of x.
  virtual Tensor constrained(const Tensor& x) const = 0;

  /// How far x = [B,C,H,W] is from satisfying it: mean((adjust(x) - x)^2) over the constrained entries, [B].
  Tensor error(const Tensor& x) const;
};

using ConstraintPtr = std::shared_ptr<const Constraint>;

/// H is x; W is y, or t for problems in time.
enum class Axis : int { h = 0, w = 1 };

/// Entries where mask [H,W] (bool) is true are set to those of `values` [H,W].
ConstraintPtr dirichlet_constraint(int64_t channel, Tensor values, Tensor mask);

/// Entry `index` (negative: from the end) of `axis` is set to `values`: one number (0-dim) or one for each entry of the
/// other axis.
ConstraintPtr slice_constraint(int64_t channel, Axis axis, int64_t index, Tensor values);

ConstraintPtr periodic_constraint(int64_t channel, Axis axis);

/// The mean over `axes` times `area` is made equal to `value`: one number, or, with one axis, one for each entry of the
/// other.
ConstraintPtr conservation_constraint(int64_t channel, std::vector<Axis> axes, Tensor value, double area = 1);

/// Applied in order; a later one wins where two set the same entry.
ConstraintPtr chain_constraint(std::vector<ConstraintPtr> members);

/// The kinds of make_constraint with their one-line summaries.
const Registry<ConstraintPtr(const json& spec, const Pde& pde, const std::string& path)>& constraint_registry();

/// Reads {"kind": ..., ...} for the channels and the grid of this PDE; a list is a chain. A UsageError names the wrong
/// key, kind or channel and the nearest right one.
ConstraintPtr make_constraint(const json& spec, const Pde& pde);

}  // namespace piddm
