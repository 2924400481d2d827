#pragma once
// Noise-data pairs of a teacher: e ~ N(0,I) and the end x_0 of its deterministic trajectory from e.
//
// Pairs come in numbered chunks. A chunk is a function of (teacher, seed, stream, number), is computed when first asked
// for and kept in a folder, so a resumed run and a second student do not pay for it again.

#include <filesystem>
#include <string>

#include "piddm/model/model.h"
#include "piddm/process/integrator.h"

namespace piddm {

struct PairOptions {
  int64_t steps = 100;
  int64_t chunk = 1024;
  int64_t every = 800;
  int64_t pool = 1;
  int64_t held_out = 256;
  IntegratorKind integrator = IntegratorKind::euler;
  Spacing spacing = Spacing::uniform;

  template <class V>
  void fields(V&& f) {
    f("steps", steps, count_from(1), "N_s: steps of the teacher");
    f("chunk", chunk, count_from(1), "fresh pairs made at a time");
    f("every", every, count_from(1), "training steps between two fresh chunks");
    f("pool", pool, count_from(1), "newest chunks trained on together");
    f("held_out", held_out, count_from(1), "pairs never trained on, for early stopping");
    f("integrator", integrator, "euler, or heun (two evaluations per step)");
    f("spacing", spacing,
      "times of the steps: uniform, or quadratic: short ones at the noisy end (process/time_grid.h)");
  }
  static std::vector<FormerKey> former_keys() { return {{"euler_steps", "steps"}}; }
};

/// Both [n,C,H,W] in network units.
struct Pairs {
  Tensor latents, targets;
};

class PairSource {
 public:
  PairSource(Model teacher, uint64_t seed, const PairOptions& options, std::filesystem::path cache);

  Pairs chunk(int64_t number) { return load(Stream::pairs, number, options_.chunk); }
  Pairs held_out() { return load(Stream::held_out_pairs, 0, options_.held_out); }
  const PairOptions& options() const { return options_; }

 private:
  Pairs load(Stream stream, int64_t number, int64_t count);

  Model teacher_;
  uint64_t seed_;
  PairOptions options_;
  std::filesystem::path cache_;
  std::string key_;  ///< hash of what the pairs depend on
};

/// Samples of a teacher in batches that fit, with progress: [n,C,H,W] network units, no gradient;
/// on a GPU in bf16, whose rounding the steps average out.
Tensor sample_teacher(const Model& teacher, const Tensor& latents, const IntegratorOptions& integrator,
                      const std::string& label);

}  // namespace piddm
