#pragma once
// A posterior of Darcy small enough for tests: 16x16, four channels wide, random weights.

#include "piddm/model/network_registry.h"
#include "piddm/posterior/posterior_student.h"
#include "tests/tiny.h"

namespace piddm::testing {

inline Model tiny_posterior(const HeadOptions& heads = {}, uint64_t seed = 1) {
  Model model = tiny_teacher();
  model.kind = ModelKind::posterior;
  model.heads = heads;
  model.draw = {.smooth = 2, .modes = 6, .white = 1};
  const json table = {{"modes", {4, 4}}, {"width", 4},      {"layers", 2},
                      {"lifting", 8},    {"projection", 8}, {"time_features", 4}};
  model.network = network_from(table, model.pde->num_channels(), seed, posterior_conditions(*model.pde, model.draw));
  return model;
}

}  // namespace piddm::testing
