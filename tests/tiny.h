#pragma once
// A Darcy model small enough for tests: 16x16, four channels wide, random weights.

#include "piddm/data/normalizer.h"
#include "piddm/model/model.h"

namespace piddm::testing {

constexpr int64_t kTinyGrid = 16;

inline PdePtr tiny_pde() { return make_pde({"darcy", kTinyGrid}); }

/// True samples of seed 5, [n,2,16,16] float64.
inline Tensor tiny_data(int64_t n, int64_t first = 0) { return tiny_pde()->sample(5, first, n); }

inline NetworkPtr tiny_network(uint64_t seed) {
  return make_network(
      "fno", {{"modes", {4, 4}}, {"width", 4}, {"layers", 2}, {"lifting", 8}, {"projection", 8}, {"time_features", 8}},
      seed);
}

inline Model tiny_teacher(uint64_t seed = 1) {
  Model model;
  model.pde = tiny_pde();
  model.process = process_registry().at("linear")();
  model.normalizer = Normalizer::fit(tiny_data(16), model.pde->channels());
  model.network = tiny_network(seed);
  return model;
}

inline HeadOptions all_heads() {
  HeadOptions heads;
  heads.band_limited = heads.smooth = heads.bounded = true;
  return heads;
}

inline Model tiny_student(const HeadOptions& heads = all_heads(), uint64_t seed = 1) {
  Model model = tiny_teacher(seed);
  model.kind = ModelKind::student;
  model.heads = heads;
  return model;
}

}  // namespace piddm::testing
