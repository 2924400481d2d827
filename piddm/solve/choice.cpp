#include "piddm/solve/choice.h"

namespace piddm {

Problem problem_of(const Model& model, Task task, const Observation& observation, bool ensemble) {
  auto exact = observation.mask > 0;
  if (observation.sigma.defined()) exact = exact & (observation.sigma == 0);
  Problem problem{.model = model, .task = task, .ensemble = ensemble};
  problem.exact_solution = problem.exact_coefficients = problem.exact_given = true;
  const auto& channels = model.pde->channels();
  for (size_t c = 0; c < channels.size(); ++c) {
    const bool all = exact.select(1, static_cast<int64_t>(c)).all().item<bool>();
    (channels[c].role == Role::solution ? problem.exact_solution : problem.exact_coefficients) &= all;
    if (channels[c].given_in_inverse) problem.exact_given &= all;
  }
  problem.functionals = !observation.functionals.empty();
  return problem;
}

}  // namespace piddm
