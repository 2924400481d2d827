#include "piddm/posterior/posterior_objective.h"

#include "tests/testing.h"

namespace piddm {
namespace {}  // namespace
}  // namespace piddm
